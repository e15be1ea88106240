import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';

/** `npm test` sets it for each pass; Jest started by hand is the main pass. */
const expectedMajor = process.env.NEST_MAJOR ?? '11';

@Injectable()
class Clock {
  /** Who called: shows which files are loaded, whatever could be resolved besides. */
  readonly callers = new Error().stack ?? '';
}

@Injectable()
class Watch {
  constructor(readonly clock: Clock) {}
}

@Module({ providers: [Clock, Watch] })
class WatchModule {}

describe(`the pass on Nest ${expectedMajor}`, () => {
  it('runs the Nest it says, and that one alone', async () => {
    const app = await NestFactory.createApplicationContext(WatchModule, { logger: false });
    const testing = await Test.createTestingModule({ imports: [WatchModule] }).compile();
    const callers = app.get(Clock).callers + testing.get(Clock).callers;
    await app.close();
    await testing.close();

    const folders = new Set(callers.match(/(?:file:\/\/)?\/[^\s()]*node_modules\/@nestjs\/core\//g));
    expect([...folders]).toHaveLength(1);
    const [folder] = [...folders].map((path) => (path.startsWith('file:') ? fileURLToPath(path) : path));
    const { version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
    expect(version.split('.')[0]).toBe(expectedMajor);
  });

  it('injects by the metadata of the same compiler that builds the other specs', async () => {
    const app = await NestFactory.createApplicationContext(WatchModule, { logger: false });
    expect(app.get(Watch).clock).toBeInstanceOf(Clock);
    await app.close();
  });
});
