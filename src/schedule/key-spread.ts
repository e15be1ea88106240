/**
 * Spreads entry keys evenly over 0 … `count` - 1: the same on all replicas, in every release and on every version of Node, since two
 * answers for one entry would be two instants. Therefore the hash is written out here and its values are pinned by a test.
 */
export function spreadKey(entryKey: string, purpose: string, count: number): number {
  let hash = 0x811c9dc5;
  const text = `${purpose}\u0000${entryKey}`;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  // FNV-1a alone leaves the high bits of similar keys alike, and those decide here.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return Math.floor(((hash >>> 0) / 0x1_0000_0000) * count);
}
