import { afterAll, beforeAll, expect, it } from '@jest/globals';
import './application.fixture.js';
import { ChildApplications } from './child-application.fixture.js';

let applications: ChildApplications;
beforeAll(() => {
  applications = new ChildApplications();
});
afterAll(() => applications.remove());

const HEAD = `
  import 'reflect-metadata';
  import { Injectable, Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { DistributedCron, DistributedCronModule, DistributedCronRegistry, MemoryBackend } from './library/index.js';
`;

it('after close no timer and no handle keeps the process alive', async () => {
  const run = applications.start(`${HEAD}
    @Injectable()
    class Jobs {
      @DistributedCron('* * * * * *', { key: 'beat', timeout: '1h' })
      async beat() {}

      @DistributedCron('0 0 1 1 *', { key: 'yearly', jitter: '30s' })
      yearly() {}
    }
    @Module({ imports: [DistributedCronModule.forRoot({ backend: new MemoryBackend() })], providers: [Jobs] })
    class App {}
    async function main() {
      const app = await NestFactory.createApplicationContext(App, { logger: ['error'] });
      const registry = app.get(DistributedCronRegistry);
      await registry.triggerAndWait('beat');
      registry.trigger('beat');
      await app.close();
      console.log('closed');
    }
    void main();
  `);
  expect(await run.ended()).toEqual({ code: 0, signal: null });
  expect(run.output).toBe('closed\n');
});

it('a failed start keeps the process alive neither', async () => {
  const run = applications.start(`${HEAD}
    @Injectable()
    class Jobs {
      @DistributedCron('61 * * * *')
      run() {}
    }
    @Module({ imports: [DistributedCronModule.forRoot({ backend: new MemoryBackend() })], providers: [Jobs] })
    class App {}
    NestFactory.createApplicationContext(App, { logger: false, abortOnError: false }).catch((error) => console.log(error.code));
  `);
  expect(await run.ended()).toEqual({ code: 0, signal: null });
  expect(run.output).toBe('CONFIGURATION_INVALID\n');
});

it('on SIGTERM with shutdown hooks a running method ends before the client it uses quits, then the process ends', async () => {
  const run = applications.start(`${HEAD}
    @Injectable()
    class Client {
      onModuleDestroy() {
        console.log('client quits');
      }
    }
    @Injectable()
    class Jobs {
      @DistributedCron('0 0 1 1 *', { key: 'job' })
      async run() {
        console.log('runs');
        await new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 50)));
        console.log('ended');
      }
    }
    @Module({ imports: [DistributedCronModule.forRoot()], providers: [Client, Jobs] })
    class App {}
    async function main() {
      const app = await NestFactory.createApplicationContext(App, { logger: false });
      app.enableShutdownHooks();
      app.get(DistributedCronRegistry).trigger('job');
      setInterval(() => undefined, 1_000);
    }
    void main();
  `);
  await run.printed('runs\n');
  run.kill('SIGTERM');
  expect(await run.ended()).toEqual({ code: null, signal: 'SIGTERM' });
  expect(run.output).toBe('runs\nended\nclient quits\n');
});
