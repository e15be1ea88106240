import { ApplicationProcess } from '../application-process.js';
import { Waits } from '../waits.js';
import type { KeptEffect } from './effect.js';
import type { FromReplica, Order, TaskReplicaSettings } from './messages.js';

/** What is known of a fleet of processes by what they tell. */
export class TaskFleet {
  /** Those that are up and not stopped: what they tell is true now. */
  readonly live = new Set<string>();
  /** In the order heard, which is the ledger's within one process only. */
  readonly effects: KeptEffect[] = [];
  private readonly processes = new Map<string, ApplicationProcess<Order, FromReplica>>();
  private readonly members = new Map<string, readonly string[]>();
  private readonly homes = new Map<string, { readonly home: string | null; readonly atMs: number }>();
  private readonly waits = new Waits({
    dead: () => [...this.live].find((name) => !this.of(name).running),
    state: () => this.state(),
  });

  start(settings: TaskReplicaSettings, script: string, env: NodeJS.ProcessEnv): void {
    const { name } = settings;
    const replica = new ApplicationProcess<Order, FromReplica>({ name, script, settings, env });
    this.processes.set(name, replica);
    this.live.add(name);
    replica.onMessage((message) => {
      if (message.type === 'members') this.members.set(name, message.members);
      if (message.type === 'home') this.homes.set(name, message);
      if (message.type === 'effect') this.effects.push(message.effect);
      this.waits.look();
    });
    void replica.ended.then(() => this.waits.look());
  }

  of(name: string): ApplicationProcess<Order, FromReplica> {
    return this.processes.get(name) as ApplicationProcess<Order, FromReplica>;
  }

  /** Resolves with the first answer of `found` that is one; looked for at each message. Rejects if a live process ends, or nothing comes in time. */
  until<T>(what: string, found: () => T | undefined): Promise<T> {
    return this.waits.until(what, found);
  }

  /** The singleton's home, once every live process sees just the live ones, and the same home. */
  agreed(): Promise<string> {
    return this.until('all live processes agree on the members', () => {
      const names = [...this.live].sort().join();
      const homes = new Set([...this.live].map((name) => this.homes.get(name)?.home));
      const [home] = homes;
      const same = [...this.live].every((name) => this.members.get(name)?.join() === names);
      return same && homes.size === 1 ? (home ?? undefined) : undefined;
    });
  }

  /** The first run from now on that passes, by its start. */
  nextRun(what: string, passes: (effect: KeptEffect) => boolean): Promise<KeptEffect> {
    const from = this.effects.length;
    return this.until(what, () =>
      this.effects
        .slice(from)
        .find((effect) => effect.task === 'singleton' && effect.phase === 'started' && passes(effect)),
    );
  }

  /** From now on: so many whole runs of the singleton, and as many of the parallel task in each live process. */
  async runs(count: number): Promise<void> {
    const from = this.effects.length;
    const counted = (passes: (effect: KeptEffect) => boolean) =>
      this.effects.slice(from).filter(passes).length >= count;
    await this.until(`the tasks ran ${count} times more`, () => {
      const once = counted(({ task, phase }) => task === 'singleton' && phase === 'ended');
      const each = [...this.live].every((name) =>
        counted((effect) => effect.task === 'parallel' && effect.process === name),
      );
      return once && each ? true : undefined;
    });
  }

  homeSeenBy(name: string): { readonly home: string | null; readonly atMs: number } | undefined {
    return this.homes.get(name);
  }

  async end(): Promise<void> {
    await Promise.all([...this.processes.values()].map((replica) => replica.kill()));
  }

  private state(): string {
    const views = [...this.processes].map(([name, { lines }]) => {
      const view = `${name}${this.live.has(name) ? '' : ' (not live)'}: members ${this.members.get(name)?.join(' ')}, home ${this.homes.get(name)?.home}`;
      return [view, ...lines].join('\n  ');
    });
    return `${this.effects.length} effects were heard of.\n${views.join('\n')}`;
  }
}
