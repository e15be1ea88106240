import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { compileInto } from '../coordination/fixtures/compiled.js';
import { temporaryFolder } from '../coordination/fixtures/stores.js';

const SUITE = `
const { describe, it } = require('node:test');
const { describeCoordinationBackend } = require('./conformance/index.js');

describeCoordinationBackend('five lines', {
  capabilities: [],
  movesClock: false,
  setUp: () => {
    const claimed = new Set();
    const claim = async (fireKey, { namespace }) => {
      const key = JSON.stringify([namespace, fireKey]);
      return claimed.has(key) ? ANSWER : claimed.add(key).has(key);
    };
    return { replica: () => ({ store: 'map', claimer: { claim } }) };
  },
}, { describe, it });
`;

it('the suite runs under node:test, which passes a claimer of five lines and fails one that answers undefined', () => {
  const folder = temporaryFolder();
  try {
    compileInto(folder.path, ['ambient', 'domain', 'coordination', 'testing', 'conformance']);
    const file = join(folder.path, 'five-lines.test.js');
    const run = () =>
      execFileSync(process.execPath, ['--test', '--test-reporter=tap', file], { encoding: 'utf8', env: {} });
    writeFileSync(file, SUITE.replace('ANSWER', 'false'));
    expect(run()).toMatch(/^# fail 0$/m);
    writeFileSync(file, SUITE.replace('ANSWER', 'undefined'));
    expect(run).toThrow();
  } finally {
    folder.remove();
  }
}, 60_000);
