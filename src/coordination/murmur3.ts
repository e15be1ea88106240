/**
 * MurmurHash3, x86, 32 bits, of the text's UTF-8 bytes: a published hash that every language has a library for, so that other programs find the same home for a
 * key. Spreads well and is fast; no protection against somebody who looks for collisions, which nobody gains from here.
 */
export function murmur3(text: string, seed: number): number {
  const { length } = text;
  for (let index = 0; index < length; index++) if (text.charCodeAt(index) > 0x7f) return ofBytes(seed, utf8(text));
  // ASCII, as nearly all keys are: its code units are its bytes.
  const whole = length & ~3;
  let hash = seed | 0;
  for (let index = 0; index < whole; index += 4) {
    hash = mixed(
      hash,
      text.charCodeAt(index) |
        (text.charCodeAt(index + 1) << 8) |
        (text.charCodeAt(index + 2) << 16) |
        (text.charCodeAt(index + 3) << 24),
    );
  }
  let tail = 0;
  for (let index = length - 1; index >= whole; index--) tail = (tail << 8) | text.charCodeAt(index);
  return finished(hash, tail, length);
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

function ofBytes(seed: number, bytes: Uint8Array): number {
  const { length } = bytes;
  const whole = length & ~3;
  let hash = seed | 0;
  for (let index = 0; index < whole; index += 4) {
    hash = mixed(
      hash,
      bytes[index]! | (bytes[index + 1]! << 8) | (bytes[index + 2]! << 16) | (bytes[index + 3]! << 24),
    );
  }
  let tail = 0;
  for (let index = length - 1; index >= whole; index--) tail = (tail << 8) | bytes[index]!;
  return finished(hash, tail, length);
}

function mixed(hash: number, block: number): number {
  const next = hash ^ scrambled(block);
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
}

function scrambled(block: number): number {
  const scaled = Math.imul(block, 0xcc9e2d51);
  return Math.imul((scaled << 15) | (scaled >>> 17), 0x1b873593);
}

function finished(hash: number, tail: number, length: number): number {
  let end = hash ^ scrambled(tail) ^ length;
  end = Math.imul(end ^ (end >>> 16), 0x85ebca6b);
  end = Math.imul(end ^ (end >>> 13), 0xc2b2ae35);
  return (end ^ (end >>> 16)) >>> 0;
}
