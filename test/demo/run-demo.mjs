/**
 * The demo as a user starts it, in short: on a store, where every number must be right, and without coordination, where it must not be satisfied.
 * `--store NAME`, as often as wanted, names the stores; sqlite and none by default. Ends with what it counted, as every test run here does.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, run } from '../../scripts/run.mjs';
import { tallyLine } from '../../scripts/tally.mjs';

const tally = { passed: 0, failed: 0 };

function check(name, holds) {
  tally[holds ? 'passed' : 'failed'] += 1;
  console.log(`${holds ? '✓' : '✗'} ${name}`);
}

async function demo(...args) {
  const { code, output } = await run(process.execPath, [join(ROOT, 'scripts', 'demo.mjs'), ...args], {
    quiet: true,
    timeoutMs: 180_000,
  });
  console.log(output.trim().replace(/^/gm, '    '));
  return { code, output, lastLine: output.trim().split('\n').at(-1) };
}

function numbers(json) {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

async function coordinated(store) {
  console.log(`coordinated by ${store}`);
  const shop = await demo('--seconds', '6', '--store', store, '--json');
  const counted = numbers(shop.lastLine);
  check('exit code 0', shop.code === 0);
  check('three replicas', counted.replicas === 3);
  check('there were fires and orders', counted.fires >= 4 && counted.orders >= 5);
  check('no fire ran twice', counted.duplicates === 0);
  check('every fire has its line in the ledger or is lost', counted.runs + counted.lost === counted.fires);
  // A replica that is killed takes with it what it had claimed; a machine that stands still for seconds misses instants. Nothing else may lose a fire.
  const lost = shop.output.split('\n').filter((line) => line.includes('* lost '));
  check('a lost fire has its reason', lost.length === counted.lost && lost.every((line) => /killed|missed/.test(line)));
  check('every order is invoiced, once', counted.invoiced === counted.orders && counted.double === 0);
  check('a replica was killed in its transaction', /KILLED inside its transaction/.test(shop.output));
  check('no parcel was sent twice', shop.code === 0 && !/parcels too many/.test(shop.output));
  check('the singleton task ran', /runs of dispatch: .*[1-9]\d* on replica/.test(shop.output));
  check(
    'the parallel task ran on each replica',
    /runs of price-list: ([1-9]\d* on replica[^;]*(; )?){3}$/m.test(shop.output),
  );
  check('another fire invoiced its orders', /\d+ orders: invoiced by invoice-run@/.test(shop.output));
}

async function uncoordinated() {
  console.log('without coordination');
  const shop = await demo('--seconds', '4', '--store', 'none');
  check('the demo fails', shop.code === 1);
  check('it counts what ran twice', /^demo: replicas=3 .* duplicates=[1-9]/.test(shop.lastLine ?? ''));
}

const { store } = parseArgs({
  options: { store: { type: 'string', multiple: true, default: ['sqlite', 'none'] } },
}).values;
for (const name of store) await (name === 'none' ? uncoordinated() : coordinated(name));

console.log(`\n${tallyLine(tally)}`);
process.exit(tally.failed > 0 ? 1 : 0);
