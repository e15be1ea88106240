import { startPostgres } from '../../servers/postgres.js';
import { tasksInProcesses } from './tasks.suite.js';

tasksInProcesses('postgres', async () => {
  const server = await startPostgres();
  return { at: server.url, stop: () => server.stop() };
});
