import type { Clock } from '../../ambient/clock.js';
import { CoordinationError } from '../coordination-error.js';
import { isUnknownScript, REDIS_STORE, type RedisCalls } from './redis-client.js';
import { NOW_SCRIPT, type RedisScript } from './redis-scripts.js';

/** Used until the application's own limit is known, and equal to its default. */
const DEFAULT_WITHIN_MS = 5_000;

/** What a script is sent with. */
export interface RedisAsk {
  readonly script: RedisScript;
  readonly keys: string[];
  readonly args: readonly string[];
  /** Which bucket the keys lie in, where the script has keys. */
  readonly bucket?: number;
  readonly operation: string;
  readonly signal: AbortSignal;
  /** When the caller began to wait, by `RedisSession.monotonicMs`, where this is not its first script: the time for one call is counted from there. */
  readonly askedAtMs?: number;
  /** Does its work however late the store executes it: what gives something back is never late. Default false. */
  readonly evenIfLate?: boolean;
}

export interface RedisAnswer {
  /** The store's clock when it executed the script, milliseconds since the epoch. */
  readonly storeMs: number;
  readonly said: string;
}

/** A look at a store's clock, and the monotonic time at which its answer was read. */
interface Heard {
  readonly storeMs: number;
  readonly atMs: number;
}

/**
 * Runs scripts: by their hash, with their text where the server does not know them, and never later than of use. A client may keep commands while it has no connection, or send
 * them again over the next one; what it took minutes ago would then still claim a fire that nobody runs. So every script carries the last instant, by the store's clock, at which it
 * may do anything, and the store refuses it later.
 *
 * The store's clock is followed from its answers, by the monotonic clock. An answer is at least as old as thought, so a limit can come early, by as long as that answer was on its
 * way, and not late.
 */
export class RedisSession {
  /** How long after its ask a command may still be executed: the application's limit of one call. */
  withinMs = DEFAULT_WITHIN_MS;
  /** All keys of one script must lie in one bucket: learned from the client's shape, or from the server's refusal. */
  isCluster: boolean;
  /** Each node of a Cluster has a clock of its own, and each bucket lies on one node. */
  readonly #heard = new Map<number, Heard>();
  #last: Heard | undefined;

  constructor(
    private readonly calls: RedisCalls,
    private readonly clock: Clock,
  ) {
    this.isCluster = calls.isCluster;
  }

  /** Rejects with the client's error, or with `COORDINATION_FAILED` if the store executed the script too late, and so did nothing. */
  async run(ask: RedisAsk): Promise<RedisAnswer> {
    const sentAtMs = ask.askedAtMs ?? this.clock.monotonic();
    if (ask.evenIfLate !== true && this.#last === undefined) await this.now(ask.signal);
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#send(ask, ask.evenIfLate === true ? undefined : this.#deadline(ask, sentAtMs));
      if (answer !== undefined) return answer;
      // Not late by our clock? Then the store's has stepped, or is another's after a fail-over, and by what was heard just now it is not late either.
      const waitedMs = this.clock.monotonic() - sentAtMs;
      if (attempt === 2 || waitedMs > this.withinMs) throw tooLate(ask.operation, waitedMs);
    }
  }

  /** For `askedAtMs`. */
  monotonicMs(): number {
    return this.clock.monotonic();
  }

  /** The store's clock, milliseconds since the epoch; on a Cluster that of any node. */
  async now(signal: AbortSignal): Promise<number> {
    const answer = await this.#send({ script: NOW_SCRIPT, keys: [], args: [], operation: 'now', signal }, undefined);
    return (answer as RedisAnswer).storeMs;
  }

  async #send(ask: RedisAsk, deadlineMs: number | undefined): Promise<RedisAnswer | undefined> {
    const { script, keys } = ask;
    // Nobody waits any more; a client without a connection would keep it all the same.
    ask.signal.throwIfAborted();
    const args = [String(deadlineMs ?? Number.MAX_SAFE_INTEGER), ...ask.args];
    let reply: unknown;
    try {
      reply = await this.calls.evalSha(script.sha, keys, args);
    } catch (cause) {
      if (!isUnknownScript(cause)) throw cause;
      reply = await this.calls.eval(script.source, keys, args);
    }
    return this.#read(reply, ask);
  }

  /** `undefined`: the script did nothing, because it was late. */
  #read(reply: unknown, { operation, bucket }: RedisAsk): RedisAnswer | undefined {
    // A client can be set to answer with buffers.
    const text = String(reply);
    const space = text.indexOf(' ');
    const storeMs = Number(space < 0 ? text : text.slice(0, space));
    if (!Number.isSafeInteger(storeMs)) throw notOurs(operation, text);
    this.#last = { storeMs, atMs: this.clock.monotonic() };
    if (bucket !== undefined) this.#heard.set(this.isCluster ? bucket : 0, this.#last);
    return space < 0 ? undefined : { storeMs, said: text.slice(space + 1) };
  }

  #deadline({ bucket = 0 }: RedisAsk, sentAtMs: number): number {
    const heard = this.#heard.get(this.isCluster ? bucket : 0) ?? this.#last;
    if (heard === undefined) return Number.MAX_SAFE_INTEGER;
    return Math.floor(heard.storeMs + (sentAtMs - heard.atMs) + this.withinMs);
  }
}

function tooLate(operation: string, waitedMs: number): CoordinationError {
  return new CoordinationError(
    'COORDINATION_FAILED',
    { store: REDIS_STORE, operation },
    `reached the store too late to be of use, ${Math.round(waitedMs)} ms after it was asked, and did nothing.`,
  );
}

function notOurs(operation: string, text: string): CoordinationError {
  return new CoordinationError(
    'COORDINATION_ANSWER',
    { store: REDIS_STORE, operation },
    `the client answered ${JSON.stringify(text.slice(0, 40))}, which no script of this library answers.`,
  );
}
