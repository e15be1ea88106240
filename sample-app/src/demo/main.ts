import { type DemoArguments, readArguments, USAGE } from './arguments';
import { type Audit, tallyLine } from './audit';
import { Demo } from './demo';
import { AppendedLines, LiveTable } from './display';

/** `npm run demo` starts this. The last line is the verdict; the exit code says whether it is good. */
async function main(): Promise<number> {
  let wanted: DemoArguments;
  try {
    wanted = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)));
  }
  const display = process.stdout.isTTY
    ? new LiveTable(process.stdout)
    : new AppendedLines((text) => process.stdout.write(text));
  const demo = new Demo(wanted, display, interrupted.signal);
  try {
    return verdict(await demo.run(), wanted, demo);
  } catch (error) {
    console.error(`demo: ${(error as Error).message}`);
    if (!interrupted.signal.aborted) for (const line of demo.replicaLines()) console.error(line);
    return 1;
  } finally {
    await demo.cleanUp();
  }
}

function verdict({ tally, faults }: Audit, { json }: DemoArguments, demo: Demo): number {
  for (const fault of faults) console.error(`demo: ${fault}`);
  if (faults.length > 0) for (const line of demo.replicaLines()) console.error(line);
  console.log(json ? JSON.stringify(tally) : tallyLine(tally));
  return faults.length > 0 ? 1 : 0;
}

void main().then((code) => process.exit(code));
