import { readFileSync } from 'node:fs';

/** What a Jest run counted, from the file its `--json --outputFile` wrote. */
export function tallyOfJest(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Jest ended before it could report: that is one failure, never "nothing failed".
    return { passed: 0, failed: 1, skipped: 0 };
  }
  return {
    passed: report.numPassedTests,
    // A file that could not be loaded has no tests to count.
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests,
  };
}

export function sum(tallies) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const tally of tallies) for (const kind of Object.keys(total)) total[kind] += tally[kind];
  return total;
}

/** The closing line of everything here that runs tests. Alone on a line, last, so that people and machines find it. */
export function tallyLine({ passed, failed, skipped = 0 }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
