import { type AddressInfo, createServer, type Server, Socket } from 'node:net';

/** What the path does to what it carries. */
export interface PathQuality {
  /** Each way. */
  readonly delayMs: number;
  /** Share of the chunks that are lost, sent again after TCP's time-out, and keep those behind them waiting. */
  readonly lossShare: number;
}

const GOOD: PathQuality = { delayMs: 0, lossShare: 0 };
/** TCP's least time before it sends again, and what it grows to when the second is lost too. */
const RESEND_MS = { least: 200, most: 1_500 } as const;

/** The path between one replica and its server. Bytes come late, never changed or out of order: that is what TCP makes of a bad network. */
export class TcpProxy {
  private quality = GOOD;
  private refusing = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
    private readonly fraction: () => number,
  ) {
    server.on('connection', (client) => this.connect(client));
  }

  /** `fraction`: chance, from 0 to 1. */
  static async start(targetPort: number, fraction: () => number): Promise<TcpProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new TcpProxy(server, targetPort, fraction);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  become(quality: PathQuality): void {
    this.quality = quality;
  }

  heal(): void {
    this.quality = GOOD;
    this.refusing = false;
  }

  /** Ends all connections, in the middle of whatever they carry, and lets none come up until it is healed. */
  cut(): void {
    this.refusing = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connect(client: Socket): void {
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    const target = new Socket();
    target.setNoDelay(true);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      this.carry(from, to);
    }
    target.connect(this.targetPort, '127.0.0.1');
  }

  private carry(from: Socket, to: Socket): void {
    const way = new OneWay(to);
    from.on('data', (chunk) => way.send(chunk, this.latencyMs()));
    from.on('end', () => way.end());
  }

  private latencyMs(): number {
    const { delayMs, lossShare } = this.quality;
    const lost = lossShare > 0 && this.fraction() < lossShare;
    return delayMs + (lost ? RESEND_MS.least + this.fraction() * (RESEND_MS.most - RESEND_MS.least) : 0);
  }
}

/** Carries chunks in the order they came, each no earlier than its time. One timer for the first of them: two timers for the same moment may go off in either order. */
class OneWay {
  private readonly queue: { readonly chunk: Buffer; readonly arrivesMs: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(private readonly to: Socket) {
    to.on('close', () => clearTimeout(this.timer));
  }

  send(chunk: Buffer, latencyMs: number): void {
    const arrivesMs = Math.max(this.queue.at(-1)?.arrivesMs ?? 0, performance.now() + latencyMs);
    this.queue.push({ chunk, arrivesMs });
    this.deliver();
  }

  end(): void {
    this.ended = true;
    this.deliver();
  }

  private deliver(): void {
    clearTimeout(this.timer);
    if (!this.to.writable) return;
    for (let first = this.queue[0]; first !== undefined; first = this.queue[0]) {
      const waitMs = first.arrivesMs - performance.now();
      if (waitMs > 0) {
        this.timer = setTimeout(() => this.deliver(), waitMs);
        return;
      }
      this.queue.shift();
      this.to.write(first.chunk);
    }
    if (this.ended) this.to.end();
  }
}
