import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import './application.fixture.js';
import { ChildApplications } from './child-application.fixture.js';

let applications: ChildApplications;
beforeAll(() => {
  applications = new ChildApplications();
});
afterAll(() => applications.remove());

interface Moment {
  readonly name: string;
  /** Inside a class: its jobs. */
  readonly jobs?: string;
  /** Inside `forRoot({ … })`. */
  readonly options?: string;
  /** Further providers, with their classes in `classes`. */
  readonly classes?: string;
  readonly providers?: string;
  /** SIGTERM comes when the application has printed this. */
  readonly at: string;
  /** All that it has printed in the end. */
  readonly printed: readonly string[];
}

/** It closes on SIGTERM and does nothing else: its process ends with code 0 only where nothing is left open. What is not cut at once would wait for a deadline that never comes. */
const application = ({ jobs = '', options = '', classes = '', providers = '' }: Moment) => `
  import 'reflect-metadata';
  import { Injectable, Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { DistributedCron, DistributedCronEvents, DistributedCronModule, MemoryBackend, ParallelTask } from './library/index.js';
  let soonMs;
  const soon = (afterMs) => {
    soonMs ??= Date.now() + 500;
    return afterMs < soonMs ? soonMs : null;
  };
  const backend = new MemoryBackend();
  const terminated = new Promise((resolve) => process.once('SIGTERM', resolve));
  ${classes}
  @Injectable()
  class Jobs { ${jobs} }
  @Module({ imports: [DistributedCronModule.forRoot({ backend, drainDeadline: '1h', ${options} })], providers: [Jobs, ${providers}] })
  class App {}
  async function main() {
    const app = await NestFactory.create(App, { logger: false });
    app.get(DistributedCronEvents).events$.subscribe((event) => {
      if (event.type.startsWith('fire.')) console.log([event.type, event.reason, event.error?.code ?? event.error?.message].filter(Boolean).join(' '));
    });
    void terminated.then(() => app.close()).then(() => console.log('closed'));
    await app.init();
    console.log('up');
  }
  void main();
`;

const MOMENTS: readonly Moment[] = [
  ...['onModuleInit', 'onApplicationBootstrap'].map((hook) => ({
    name: `before the application has started, in another provider’s ${hook}: no fire comes of it`,
    classes: `@Injectable() class Slow {
      async ${hook}() {
        const held = setInterval(() => undefined, 1_000);
        console.log('starts');
        await terminated.then(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
        clearInterval(held);
      }
    }`,
    providers: 'Slow',
    jobs: `@DistributedCron(soon, { key: 'job' }) run() { console.log('ran'); }
      @ParallelTask({ key: 'task', initialDelay: 1 }) task() { console.log('ran'); return 1_000; }`,
    at: 'starts\n',
    printed: ['starts', 'closed', 'up'],
  })),
  {
    name: 'while no fire is under way',
    jobs: `@DistributedCron('0 0 1 1 *', { key: 'job', jitter: '1m', recovery: 'rerun' }) run() {}`,
    at: 'up\n',
    printed: ['up', 'closed'],
  },
  {
    name: 'while a fire waits for its jitter: it asks no claim',
    jobs: `@DistributedCron(soon, { key: 'job', jitter: '10m' }) run() {}
      @DistributedCron(soon, { key: 'mark', claimer: null }) mark() { console.log('now'); }`,
    at: 'now\n',
    printed: ['up', 'fire.started', 'now', 'fire.completed', 'fire.canceled draining', 'closed'],
  },
  {
    name: 'while a claim is on the way that is granted: the fire runs',
    options: `claimer: { claim: async () => { console.log('asked'); await terminated; await new Promise((resolve) => setTimeout(resolve, 200)); return true; } }, backend: undefined,`,
    jobs: `@DistributedCron(soon, { key: 'job' }) run() { console.log('ran'); }`,
    at: 'asked\n',
    printed: ['up', 'asked', 'fire.started', 'ran', 'fire.completed', 'closed'],
  },
  {
    name: 'while a claim is on the way that nobody answers: the fire ends with the time limit of the call',
    options: `claimer: { claim: () => { console.log('asked'); return new Promise(() => {}); } }, backend: undefined, coordinationTimeout: '1s',`,
    jobs: `@DistributedCron(soon, { key: 'job' }) run() { console.log('ran'); }`,
    at: 'asked\n',
    printed: ['up', 'asked', 'fire.skipped claim-error COORDINATION_TIMEOUT', 'closed'],
  },
  {
    name: 'while a method runs: it ends first',
    jobs: `@DistributedCron(soon, { key: 'job', timeout: '1h', recovery: 'rerun', overlap: 'skip', overlapScope: 'fleet' })
      async run({ signal }) { console.log('runs'); await terminated; await new Promise((resolve) => setTimeout(resolve, 200)); console.log(signal.aborted ? 'aborted' : 'ends'); }`,
    at: 'runs\n',
    printed: ['up', 'fire.started', 'runs', 'ends', 'fire.completed', 'closed'],
  },
  {
    name: 'while a method runs that never ends, nor listens to its signal: it is left at the deadline',
    options: `drainDeadline: '1s',`,
    jobs: `@DistributedCron(soon, { key: 'job', timeout: '1h', recovery: 'rerun', overlap: 'queue', overlapScope: 'fleet' })
      run() { console.log('runs'); return new Promise(() => {}); }`,
    at: 'runs\n',
    printed: ['up', 'fire.started', 'runs', 'fire.failed DRAIN_DEADLINE', 'closed'],
  },
  {
    name: 'in the pause before a retry: the fire fails with the last error, and the pause is cut',
    jobs: `@DistributedCron(soon, { key: 'job', retry: { attempts: 5, min: '1h', max: '1h' }, recovery: 'rerun' })
      run() { throw new Error('broken'); }`,
    at: 'fire.retrying broken\n',
    printed: ['up', 'fire.started', 'fire.retrying broken', 'fire.failed broken', 'closed'],
  },
  {
    name: 'while a fire waits for the earlier one to end: it is canceled, the earlier one ends',
    jobs: `@DistributedCron('* * * * * *', { key: 'job', overlap: 'queue' })
      async run() { await terminated; await new Promise((resolve) => setTimeout(resolve, 200)); console.log('ends'); }`,
    at: 'fire.rejected overlap\n',
    printed: [
      'up',
      'fire.started',
      'fire.rejected overlap',
      'fire.canceled draining',
      'ends',
      'fire.completed',
      'closed',
    ],
  },
];

describe('an application that closes on SIGTERM ends with code 0 and nothing left open', () => {
  it.each(MOMENTS.map((moment) => [moment.name, moment] as const))('%s', async (_, moment) => {
    const run = applications.start(application(moment));
    await run.printed(moment.at);
    run.kill('SIGTERM');
    const end = await run.ended();
    expect({ end, printed: run.output.trim().split('\n') }).toEqual({
      end: { code: 0, signal: null },
      printed: moment.printed,
    });
  });
});
