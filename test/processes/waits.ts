/** For any one step, the start of all processes too; a step takes a few seconds at most on a quiet machine. */
const STEP_LIMIT_MS = 60_000;

interface WaitsParts {
  /** A process that ended and should not have, by its name. */
  readonly dead: () => string | undefined;
  /** What is known, for whoever wonders what was waited for. */
  readonly state: () => string;
}

/** Waits for what processes tell, never for time. */
export class Waits {
  private readonly waiting = new Set<() => void>();

  constructor(private readonly parts: WaitsParts) {}

  /** To be called at each message, and when a process has ended. */
  look(): void {
    for (const look of [...this.waiting]) look();
  }

  /** Resolves with the first answer of `found` that is one. Rejects if a process dies that should live, or nothing comes in time. */
  until<T>(what: string, found: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(limit);
        this.waiting.delete(look);
      };
      const fail = (why: string) => {
        done();
        reject(new Error(`${why} while waiting until ${what}. ${this.parts.state()}`));
      };
      const look = () => {
        const dead = this.parts.dead();
        if (dead !== undefined) return fail(`Process ${dead} ended`);
        const answer = found();
        if (answer === undefined) return;
        done();
        resolve(answer);
      };
      const limit = setTimeout(() => fail('Time was up'), STEP_LIMIT_MS);
      this.waiting.add(look);
      look();
    });
  }
}
