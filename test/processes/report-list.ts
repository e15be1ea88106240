const SHOWN = 20;

/** A paragraph of a report, where there is anything to say: the title with the count, and the first of the items. */
export function list<T>(lines: string[], title: string, items: readonly T[], show: (item: T) => string): void {
  if (items.length === 0) return;
  lines.push('', `${title}: ${items.length}`);
  for (const item of items.slice(0, SHOWN)) lines.push(`  ${show(item)}`);
  if (items.length > SHOWN) lines.push(`  … and ${items.length - SHOWN} more`);
}

/** A paragraph of counts, the largest first. */
export function counts(lines: string[], title: string, all: ReadonlyMap<string, number>): void {
  if (all.size > 0) lines.push('', title);
  for (const [what, count] of [...all].sort((a, b) => b[1] - a[1]))
    lines.push(`  ${String(count).padStart(7)}  ${what}`);
}
