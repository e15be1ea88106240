/** Whether a replica of a fleet runs. Its clock and its calls to the store ask here before they give it anything. */
export class ReplicaLife {
  private state: 'running' | 'stalled' | 'killed' = 'running';
  private readonly waiting = new Set<() => void>();

  get running(): boolean {
    return this.state === 'running';
  }

  get killed(): boolean {
    return this.state === 'killed';
  }

  stall(): void {
    if (this.state === 'running') this.state = 'stalled';
  }

  wake(): void {
    if (this.state === 'stalled') this.state = 'running';
  }

  kill(): void {
    this.state = 'killed';
    this.waiting.clear();
  }

  /** Lets what waits for an answer go on. Apart from `wake`, since a process that goes on sees its timers before its sockets. */
  answer(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }

  /** A call to another process: a stalled replica sends and hears nothing until it wakes, a killed one never again. */
  async call<T>(send: () => T | Promise<T>): Promise<T> {
    await this.toRun();
    // An error of the answer waits as the answer would.
    const answer = await Promise.resolve()
      .then(send)
      .then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      );
    await this.toRun();
    return answer();
  }

  private async toRun(): Promise<void> {
    while (this.state !== 'running') await new Promise<void>((resolve) => this.waiting.add(resolve));
  }
}
