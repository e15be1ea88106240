import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisBackend } from 'nestjs-distributed-cron/redis';
import type { ShopConfig } from '../shop-config';
import { Coordination } from './coordination';

export function throughRedis({ redisUrl }: ShopConfig): Coordination {
  const client = new Redis(redisUrl);
  // It connects again by itself. Without a listener each failed attempt would be printed.
  client.on('error', (error: Error) => new Logger('Redis').warn(error.message));
  // `quit` would wait for a connection that may not come back.
  return new Coordination({ backend: new RedisBackend({ client }) }, async () => client.disconnect());
}
