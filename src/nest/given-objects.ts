/** What an object of the application's own must have to be one of these. They are known by what they can do, never by their class. */
type Given = Readonly<Record<string, unknown>>;

export const CLAIMER_EXPECTED = 'an object with a claim() method';
export const isClaimer = (value: Given) => typeof value.claim === 'function';
export const ELECTOR_EXPECTED = 'an object with an isLeader() method';
export const isElector = (value: Given) => typeof value.isLeader === 'function';
export const BACKEND_EXPECTED = 'a coordination backend: an object with store and claimer';
export const isBackend = ({ store, claimer }: Given) =>
  typeof store === 'string' && typeof claimer === 'object' && claimer !== null && isClaimer(claimer as Given);

export const MEMBERSHIP_EXPECTED =
  'a StaticMembership, what fetchedMembership() makes, or an object with current and onChange()';
export const isMembership = (value: Given) =>
  typeof value.onChange === 'function' || (typeof value.list === 'function' && typeof value.everyMs === 'number');
