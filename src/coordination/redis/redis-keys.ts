import { entryOfOverlapLease } from '../overlap-lease.js';

/** Slots of a Cluster that the keys are spread over; a batch is at most this many scripts there, and any number of them on one server. */
export const BUCKETS = 16;

/**
 * The hash of an entry: head and claims. `<namespace>:{<bucket>}:<entry key>`, the namespace percent-encoded, so that no two pairs meet in one name. The bucket is the hash tag: one
 * made of the entry key itself would end too early in a key that starts with `}`.
 */
export const entryName = (namespace: string, entryKey: string) =>
  `${percentEncoded(namespace)}:{${bucketOf(entryKey)}}:${entryKey}`;

/** The hash of a lease. What follows the bucket tells it from an entry, whatever either is called. */
export const leaseName = (namespace: string, name: string) =>
  `${percentEncoded(namespace)}:{${bucketOfLease(name)}}/lease:${name}`;

/** A claim takes the overlap lease of its entry in its own step, so that lies where the entry lies. */
export const bucketOfLease = (name: string) => bucketOf(entryOfOverlapLease(name) ?? name);

/** The sorted set of a bucket's claims that can be taken over. */
export const recoveryName = (namespace: string, bucket: number) => `${percentEncoded(namespace)}:{${bucket}}/recovery`;

/** What stands for a claim in it. */
export const recoveryMember = (instantMs: number, entryKey: string) => `${instantMs}:${entryKey}`;

/** The hash of a namespace's members. */
export const membersName = (namespace: string) => `${percentEncoded(namespace)}:{0}/members`;

/** Without `:`, `{` and `}`. Ids and namespaces nearly never need it, and looking is cheaper. */
export const percentEncoded = (text: string) => (/^[\w-]*$/.test(text) ? text : encodeURIComponent(text));

/** FNV-1a over UTF-16 code units. Replicas must agree on it for ever: it is part of every name. */
export function bucketOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 16)) >>> 0) % BUCKETS;
}

/** What a text must be to become part of a name, or `undefined` if it can: with a lone surrogate two texts would be one in UTF-8. */
export function textFault(text: unknown): string | undefined {
  if (typeof text === 'string' && text.isWellFormed()) return undefined;
  return 'well-formed Unicode text (no lone surrogates)';
}
