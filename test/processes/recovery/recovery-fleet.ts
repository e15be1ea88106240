import { ApplicationProcess } from '../application-process.js';
import type { StorePlace } from '../open-store.js';
import { Waits } from '../waits.js';
import type { Act, Done, FromReplica, Order, Started, Word } from './messages.js';
import { LEASE_TTL_MS } from './timing.js';

type ReplicaProcess = ApplicationProcess<Order, FromReplica>;
type Arm = Omit<Extract<Order, { type: 'arm' }>, 'type'>;

interface FleetParts {
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly namespace: string;
  readonly place: StorePlace;
}

/** What is known of a fleet of processes by what they tell. */
export class RecoveryFleet {
  /** Those that must not end. */
  readonly live = new Set<string>();
  /** In the order heard. */
  readonly acts: Act[] = [];
  readonly words: Word[] = [];
  private readonly done: (Done & { readonly replica: string })[] = [];
  private readonly processes = new Map<string, ReplicaProcess>();
  private readonly waits = new Waits({
    dead: () => [...this.live].find((name) => !this.of(name).running),
    state: () => this.state(),
  });

  constructor(private readonly parts: FleetParts) {}

  /** Resolves when it takes part. */
  async start(name: string, leaseTtlMs = LEASE_TTL_MS): Promise<void> {
    const { script, env, namespace, place } = this.parts;
    const replica: ReplicaProcess = new ApplicationProcess({
      name,
      script,
      settings: { name, namespace, place, leaseTtlMs },
      env,
    });
    this.processes.set(name, replica);
    this.live.add(name);
    const started = replica.heard((message): message is Started => message.type === 'started');
    replica.onMessage((message) => {
      if (message.type === 'act') this.acts.push(message);
      if (message.type === 'word') this.words.push(message);
      if (message.type === 'done') this.done.push({ ...message, replica: name });
      this.waits.look();
    });
    void replica.ended.then(() => this.waits.look());
    await started;
  }

  of(name: string): ReplicaProcess {
    return this.processes.get(name) as ReplicaProcess;
  }

  /** Resolves when each of them has the entry. */
  async arm(names: readonly string[], entry: Arm): Promise<void> {
    await Promise.all(names.map((name) => this.order(name, { type: 'arm', ...entry })));
  }

  /** Resolves when it is carried out, with when. */
  async order(name: string, order: Order): Promise<number> {
    const from = this.done.length;
    this.of(name).tell(order);
    const done = await this.until(`${name} has carried out: ${order.type} ${order.key}`, () =>
      this.done
        .slice(from)
        .find((said) => said.replica === name && said.order === order.type && said.key === order.key),
    );
    return done.atMs;
  }

  until<T>(what: string, found: () => T | undefined): Promise<T> {
    return this.waits.until(what, found);
  }

  /** The first act of the entry that passes, of those heard or to come. */
  act(key: string, phase: Act['phase'], passes: (act: Act) => boolean = () => true): Promise<Act> {
    return this.until(`a run of ${key} has ${phase}`, () =>
      this.acts.find((act) => act.key === key && act.phase === phase && passes(act)),
    );
  }

  actsOf(key: string, phase: Act['phase']): Act[] {
    return this.acts.filter((act) => act.key === key && act.phase === phase);
  }

  wordsOf(key: string, word: Word['word']): Word[] {
    return this.words.filter((said) => said.key === key && said.word === word);
  }

  /** Its end is no failure from here on. */
  async kill(name: string): Promise<number> {
    this.live.delete(name);
    await this.of(name).kill();
    return Date.now();
  }

  async killAll(): Promise<void> {
    this.live.clear();
    await Promise.all([...this.processes.values()].map((replica) => replica.kill()));
  }

  private state(): string {
    const acts = this.acts
      .slice(-20)
      .map((act) => `\n  ${act.replica} ${act.key} ${act.phase}, attempt ${act.attempt}`);
    const printed = [...this.processes].flatMap(([name, { lines }]) => lines.map((line) => `\n  ${name}: ${line}`));
    return `The last acts:${acts.join('')}\nThey printed:${printed.join('')}`;
  }
}
