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
    let arrivesMs = 0;
    from.on('data', (chunk) => {
      const nowMs = performance.now();
      arrivesMs = Math.max(arrivesMs, nowMs + this.latencyMs());
      if (arrivesMs <= nowMs) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), arrivesMs - nowMs);
    });
    from.on('end', () => setTimeout(() => to.end(), Math.max(0, arrivesMs - performance.now()) + 1));
  }

  private latencyMs(): number {
    const { delayMs, lossShare } = this.quality;
    const lost = lossShare > 0 && this.fraction() < lossShare;
    return delayMs + (lost ? RESEND_MS.least + this.fraction() * (RESEND_MS.most - RESEND_MS.least) : 0);
  }
}
