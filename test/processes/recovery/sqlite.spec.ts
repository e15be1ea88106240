import { recoveryInProcesses } from './recovery.suite.js';

recoveryInProcesses('sqlite');
