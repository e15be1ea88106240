import { hostname } from 'node:os';

export type StoreName = 'sqlite' | 'none';

/** What differs from one replica, or one place of deployment, to the next. */
export interface ShopConfig {
  readonly databasePath: string;
  /** A label for people; the scheduler has an instance id of its own. */
  readonly replica: string;
  /** What the replicas share to agree on who runs a fire. */
  readonly store: StoreName;
}

export function shopConfig(env: NodeJS.ProcessEnv = process.env): ShopConfig {
  return {
    databasePath: env.SHOP_DATABASE ?? 'shop.sqlite',
    replica: env.SHOP_REPLICA ?? hostname(),
    store: env.SHOP_STORE === 'none' ? 'none' : 'sqlite',
  };
}
