import { anyRedis } from '../../servers/redis.js';
import { tasksInProcesses } from './tasks.suite.js';

tasksInProcesses('redis', async () => {
  const server = await anyRedis();
  return { at: server.url, stop: () => server.stop() };
});
