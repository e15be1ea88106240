/** Tokens of providers that are the module's own business. Not exported from the package. */
export const RESOLVED_OPTIONS = Symbol('nestjs-distributed-cron:resolved-options');
export const INSTANCE = Symbol('nestjs-distributed-cron:instance');
export const SCHEDULER = Symbol('nestjs-distributed-cron:scheduler');
export const COORDINATION = Symbol('nestjs-distributed-cron:coordination');
export const EVENT_STREAM = Symbol('nestjs-distributed-cron:event-stream');
export const EVENT_LOG = Symbol('nestjs-distributed-cron:event-log');
export const GUARDED_BACKEND = Symbol('nestjs-distributed-cron:guarded-backend');
export const LEADERSHIP = Symbol('nestjs-distributed-cron:leadership');
export const HOMES = Symbol('nestjs-distributed-cron:homes');
export const TASKS = Symbol('nestjs-distributed-cron:tasks');
export const SINGLETON_WARNINGS = Symbol('nestjs-distributed-cron:singleton-warnings');
export const EMIT = Symbol('nestjs-distributed-cron:emit');
