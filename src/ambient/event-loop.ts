/** Lets everything that is ready run before the caller goes on. Not a wait: no time passes, so no clock is asked, and none has to be moved in a test. */
export function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
