import type { ConfigurationFault } from '../domain/errors.js';
import type { RuledEntry } from './entry-rules.js';
import type { ResolvedOptions } from './resolve-options.js';

/** A home is one of several members, and asks for a claim. */
export function placementFaults(
  { policies, claimer }: RuledEntry,
  module: ResolvedOptions,
  subject: string,
): ConfigurationFault[] {
  if (policies.placement !== 'spread') return [];
  const fault = (expected: string, got: string, hint: string) => ({
    code: 'PLACEMENT_CONFLICT',
    subject,
    expected,
    got,
    hint,
  });
  if (module.leadership || module.elector !== undefined) {
    const got = module.leadership ? 'leadership: true' : 'an elector';
    return [
      fault(
        "placement 'any' where one replica leads",
        got,
        'Fires of a leader have no home: leave out placement, or the election.',
      ),
    ];
  }
  const asked = claimer === undefined ? (module.claimer ?? module.backend) : claimer;
  if (asked === undefined || asked === null) {
    return [
      fault(
        "a claimer beside placement 'spread'",
        'none',
        'A home only asks first; that one replica runs the fire is the claim.',
      ),
    ];
  }
  if (module.membership === undefined && module.backend?.membership === undefined) {
    return [
      fault("members beside placement 'spread'", 'none', 'Give forRoot a backend with membership, or membership.'),
    ];
  }
  return [];
}
