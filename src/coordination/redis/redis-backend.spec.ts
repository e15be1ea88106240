import { describe, expect, it } from '@jest/globals';
import { ConfigurationError } from '../../domain/errors.js';
import { RedisBackend } from './redis-backend.js';

describe('RedisBackend', () => {
  it.each([undefined, null, 'redis://localhost', {}, { get: () => undefined }, { evalsha: () => undefined }])(
    'refuses %p for a client when it is made, and says what it takes',
    (client) => {
      expect(() => new RedisBackend({ client: client as never })).toThrow(ConfigurationError);
      expect(() => new RedisBackend({ client: client as never })).toThrow(/client of ioredis .* or of redis/);
    },
  );

  it('has no close: the client is the application’s', () => {
    const backend = new RedisBackend({ client: { evalsha: async () => '', eval: async () => '' } });
    expect('close' in backend).toBe(false);
  });
});
