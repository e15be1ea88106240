import { recoveryInProcesses } from './recovery.suite.js';

recoveryInProcesses('postgres');
