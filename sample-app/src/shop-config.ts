import { hostname } from 'node:os';

export const STORE_NAMES = ['sqlite', 'redis', 'postgres', 'none'] as const;

export type StoreName = (typeof STORE_NAMES)[number];

/** What differs from one replica, or one place of deployment, to the next. */
export interface ShopConfig {
  readonly databasePath: string;
  /** A label for people; the scheduler has an instance id of its own. */
  readonly replica: string;
  /** What the replicas share to agree on who runs a fire. */
  readonly store: StoreName;
  /** Keeps shops that share a store apart. */
  readonly namespace: string;
  readonly redisUrl: string;
  readonly postgresUrl: string;
}

export function shopConfig(env: NodeJS.ProcessEnv = process.env): ShopConfig {
  return {
    databasePath: env.SHOP_DATABASE ?? 'shop.sqlite',
    replica: env.SHOP_REPLICA ?? hostname(),
    store: storeName(env.SHOP_STORE ?? 'sqlite'),
    namespace: env.SHOP_NAMESPACE ?? 'shop',
    redisUrl: env.REDIS_URL ?? 'redis://127.0.0.1:6379',
    postgresUrl: env.POSTGRES_URL ?? 'postgres://127.0.0.1:5432/postgres',
  };
}

/** A misspelled store must not become another one. @throws Error that names those there are */
export function storeName(text: string): StoreName {
  const store = STORE_NAMES.find((name) => name === text);
  if (store === undefined) throw new Error(`The store is ${STORE_NAMES.join(', ')}; got "${text}".`);
  return store;
}
