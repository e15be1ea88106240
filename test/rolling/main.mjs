/** `npm run test:rolling`, see docs/rolling-deploys.md. */
import { availableParallelism } from 'node:os';
import { launchCommand } from '../processes/launch.mjs';

// A fleet is at rest most of the time; two of them start on a core without being in each other's way for long.
await launchCommand('test/rolling/launcher.js', { atOnce: Math.max(1, availableParallelism()) });
