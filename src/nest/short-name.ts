import type { DiscoveredMethod } from './discovery.js';

/** Class names below this length come from a minifier. */
const SHORTEST_CLASS_NAME = 3;

export function hasShortName({ className }: DiscoveredMethod): boolean {
  return className.length < SHORTEST_CLASS_NAME;
}
