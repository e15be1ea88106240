/** The key of a scheduled fire, written once more by whoever judges: it must not ask the library. */
export function fireKeyOf(entryKey: string, instantMs: number): string {
  return `${entryKey}@${new Date(instantMs).toISOString().replace(/\.?0*Z$/, 'Z')}`;
}
