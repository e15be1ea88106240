import type { FromReplica, StopInside } from './messages';
import { ReplicaProcess, type ReplicaSettings } from './replica-process';

interface FleetSettings extends Omit<ReplicaSettings, 'name'> {
  readonly replicas: number;
}

/** The shop's processes. */
export class Fleet {
  readonly replicas: ReplicaProcess[] = [];

  /** Starts them all; `onDeath` is told of one that ends although nobody told it to. */
  start(
    { replicas, ...shared }: FleetSettings,
    onMessage: (replica: ReplicaProcess, message: FromReplica) => void,
    onDeath: (replica: ReplicaProcess, how: string) => void,
  ): void {
    for (let number = 1; number <= replicas; number += 1) {
      const replica = new ReplicaProcess({ ...shared, name: String(number) });
      replica.onMessage((message) => onMessage(replica, message));
      replica.onDeath((how) => onDeath(replica, how));
      this.replicas.push(replica);
    }
  }

  get allUp(): boolean {
    return this.replicas.every((replica) => replica.isUp);
  }

  live(): ReplicaProcess[] {
    return this.replicas.filter((replica) => replica.isUp);
  }

  urls(): string[] {
    return this.live().map(({ url }) => url as string);
  }

  tellAll(message: StopInside): void {
    for (const replica of this.live()) replica.tell(message);
  }

  /** Drains them all. Answers the names of those that had to be killed. */
  async end(): Promise<string[]> {
    const ended = await Promise.all(
      this.replicas.map(async (replica) => ({ name: replica.name, byItself: await replica.end() })),
    );
    return ended.filter(({ byItself }) => !byItself).map(({ name }) => name);
  }
}
