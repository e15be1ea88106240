import type { Recorder, VirtualClock } from 'nestjs-distributed-cron/testing';

declare const clock: VirtualClock;
declare const told: Recorder;
