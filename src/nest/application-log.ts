import { Logger } from '@nestjs/common';

/**
 * The application's own log, under one name. A logger is the application's code: one that throws must end neither a fire nor the start, so what it
 * throws is dropped, and the line with it.
 */
export class ApplicationLog {
  private readonly logger = new Logger('DistributedCron');

  log(message: string): void {
    this.write(() => this.logger.log(message));
  }

  warn(message: string): void {
    this.write(() => this.logger.warn(message));
  }

  /** `cause` is what was thrown, `undefined` included: that is what a bare `Promise.reject()` rejects with. */
  error(message: string, cause: unknown): void {
    this.write(() => this.logger.error(`${message}: ${messageOf(cause)}`, stackOf(cause)));
  }

  private write(line: () => void): void {
    try {
      line();
    } catch {}
  }
}

/** What was thrown, as one line. Anything can be thrown: an object without a prototype, or one whose `message` throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'something that cannot be shown as text';
  }
}

function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error ? thrown.stack : undefined;
  } catch {
    return undefined;
  }
}
