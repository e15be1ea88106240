import { join } from 'node:path';
import type { ApplicationProcess } from '../processes/application-process.js';
import { Fleet, type ReplicaFiles } from '../processes/fleet.js';
import type { Life } from '../processes/life.js';
import type { FromReplica, ReplicaSettings, SetClock } from './settings.js';

type ChaosSettings = Omit<ReplicaSettings, keyof ReplicaFiles>;

/** The replicas of a chaos run: their clocks can be set, and what they say of that belongs to their lives. */
export class ClockedFleet extends Fleet<ChaosSettings, SetClock, FromReplica> {
  constructor(folder: string, settingsOf: (replica: number) => ChaosSettings) {
    super(folder, join(__dirname, 'replica.js'), settingsOf);
  }

  /** Resolves when its clock is set. */
  async setClock(replica: number, offsetMs: number): Promise<void> {
    const { process } = this.get(replica);
    const set = process.heard(
      (message): message is FromReplica => message.type === 'clock-set' && message.offsetMs === offsetMs,
    );
    process.tell({ type: 'set-clock', offsetMs });
    await set;
  }

  protected override onStart(process: ApplicationProcess<SetClock, FromReplica>, life: Life): void {
    process.onMessage((message) => {
      if (message.type === 'clock-set') life.clockSet(message.atMs, message.offsetMs);
    });
  }
}
