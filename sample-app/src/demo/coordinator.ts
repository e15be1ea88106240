import type { ShopConfig } from '../shop-config';

/** Says what decides who runs a fire. */
export function coordinator({ store, redisUrl, postgresUrl }: ShopConfig): string {
  switch (store) {
    case 'sqlite':
      return 'that file says who runs a fire';
    case 'redis':
      return `Redis at ${placeOf(redisUrl)} says who runs a fire`;
    case 'postgres':
      return `PostgreSQL at ${placeOf(postgresUrl)} says who runs a fire`;
    case 'none':
      return 'nothing says who runs a fire';
  }
}

/** A URL may hold a password. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the place that the environment names';
}
