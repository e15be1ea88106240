import { recoveryInProcesses } from './recovery.suite.js';

recoveryInProcesses('redis');
