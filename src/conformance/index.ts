export type { Capability } from './capabilities.js';
export type { ConformanceStore } from './conformance-store.js';
export {
  brokenRules,
  type ConformanceHarness,
  describeCoordinationBackend,
  type TestRunner,
} from './describe-coordination-backend.js';
export type { MovableClock } from './movable-clock.js';
export type { Layer } from './rules.js';
export { FAULTLESS_BACKEND, WRONG_BACKENDS, type WrongBackend } from './wrong-backends.js';
