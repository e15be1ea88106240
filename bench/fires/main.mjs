/**
 * What the engine costs beside the limit: a bare binary heap with one timer, which knows no clock steps, pauses, events or coordination. Each measurement
 * runs in a process of its own, both contenders by turns; medians and their ratio are printed. Nothing is asserted.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SUBJECT = fileURLToPath(new URL('./subject.mjs', import.meta.url));
const ROUNDS = 5;

function measure(contender, what, entries) {
  const output = execFileSync(process.execPath, ['--expose-gc', SUBJECT, contender, what, String(entries)], {
    encoding: 'utf8',
  });
  return JSON.parse(output.trim().split('\n').at(-1));
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function sideBySide(what, entries, rounds = ROUNDS) {
  const taken = { bare: [], library: [] };
  for (let round = 0; round < rounds; round++) {
    for (const contender of ['bare', 'library']) taken[contender].push(measure(contender, what, entries));
  }
  return (field) => {
    const bare = median(taken.bare.map((result) => result[field]));
    const library = median(taken.library.map((result) => result[field]));
    return { bare, library, ratio: library / bare };
  };
}

function print(label, unit, { bare, library, ratio }, target) {
  const number = (value) => value.toFixed(1).padStart(9);
  console.log(
    `${label.padEnd(46)} ${number(bare)} ${number(library)} ${unit.padEnd(3)} ratio ${ratio.toFixed(2).padStart(5)}   ${target}`,
  );
}

console.log(`${''.padEnd(46)} bare heap   library`);
for (const entries of [1_000, 10_000, 50_000]) {
  print(`${entries} entries due at once, last start`, 'ms', sideBySide('due', entries, 1)('lastStartMs'), 'at most 3');
}
const registered = sideBySide('register', 100_000);
print('100000 entries registered', 'ms', registered('registeredMs'), 'at most 4');
print('heap of each', 'B', registered('heapBytes'), 'at most 1536 B');
print('100000 entries at rest for 10 s, processor', 'ms', sideBySide('idle', 100_000, 3)('cpuMs'), 'at most 2');
