export type { RedisBackendOptions } from './redis-backend.js';
export { RedisBackend } from './redis-backend.js';
export type { IoredisClient, NodeRedisClient, RedisClient } from './redis-client.js';
