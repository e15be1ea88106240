/** `npm run test:chaos`, see docs/chaos.md. With `--store all` the stores have their turn one after the other, and the last line counts them. */
import { launchCommand } from '../processes/launch.mjs';

await launchCommand('test/chaos/launcher.js');
