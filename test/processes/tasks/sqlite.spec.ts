import { join } from 'node:path';
import { tasksInProcesses } from './tasks.suite.js';

tasksInProcesses('sqlite', async (folder) => ({ at: join(folder, 'store.db'), stop: async () => undefined }));
