/** Longest entry key in UTF-16 units. Stores hold it whole: nothing is truncated or folded. */
export const MAX_ENTRY_KEY_LENGTH = 512;

/**
 * Says why a text cannot be an entry key, or `undefined` if it can. Keys are compared by code unit: `Job` and `job` are two.
 * Control characters are refused because they make two keys look alike in a log; lone surrogates because no store keeps them.
 */
export function entryKeyFault(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'a string';
  if (key.length === 0) return 'at least one character';
  if (key.length > MAX_ENTRY_KEY_LENGTH) return `at most ${MAX_ENTRY_KEY_LENGTH} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(key)) return 'no control characters';
  if (!key.isWellFormed()) return 'well-formed Unicode (no lone surrogates)';
  if (key.trim() !== key) return 'no white space at its ends';
  return undefined;
}
