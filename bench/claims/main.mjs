/**
 * What a turn of 1,000 claims costs on a real store, beside the least that store can do for 1,000 keys: `npm run bench -- claims`. Each store is a file beside this one; name some to
 * run only those. Only ratios of one run carry from one machine to another.
 */
import { existsSync } from 'node:fs';

const asked = process.argv.slice(2);
const stores = ['redis', 'postgres'].filter((store) => existsSync(new URL(`${store}.mjs`, import.meta.url)));
for (const store of asked.length > 0 ? asked : stores) {
  const { benchmark } = await import(`./${store}.mjs`);
  await benchmark();
}
