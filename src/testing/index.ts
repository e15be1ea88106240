export { type Fleet, type FleetOptions, fleet } from './fleet.js';
export type { BuildReplica, FleetApplication, FleetLogger, FleetMember } from './fleet-application.js';
export type { FleetReplica } from './fleet-replica.js';
export {
  type EventSource,
  type FireEvent,
  Recorder,
  type RecorderOptions,
  type RunEvent,
  recorder,
} from './recorder.js';
export { VirtualClock } from './virtual-clock.js';
