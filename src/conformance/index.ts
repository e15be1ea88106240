export type { Capability } from './capabilities.js';
export type { Layer } from './conformance-rule.js';
export type { ConformanceStore } from './conformance-store.js';
export {
  brokenRules,
  type ConformanceHarness,
  describeCoordinationBackend,
  type TestRunner,
} from './describe-coordination-backend.js';
export type { MovableClock } from './movable-clock.js';
export { FAULTLESS_BACKEND, WRONG_BACKENDS, type WrongBackend } from './wrong-backends.js';
