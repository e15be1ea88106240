import { Logger } from '@nestjs/common';
import { PostgresBackend } from 'nestjs-distributed-cron/postgres';
import { Pool } from 'pg';
import type { ShopConfig } from '../shop-config';
import { Coordination } from './coordination';

export async function throughPostgres({ postgresUrl }: ShopConfig): Promise<Coordination> {
  const pool = new Pool({ connectionString: postgresUrl, max: 4 });
  // Without a listener an idle session that the server ends takes the process along.
  pool.on('error', (error) => new Logger('PostgreSQL').warn(error.message));
  const backend = new PostgresBackend({ pool });
  // All replicas may do so at once. Where the role may not create tables, a migration does it: docs/stores/postgres.sql.
  await backend.createSchema();
  return new Coordination({ backend }, () => pool.end());
}
