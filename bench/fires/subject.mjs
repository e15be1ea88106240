// One measurement in a process of its own: `node subject.mjs <bare|library> <due|register|idle> <entries>`. Prints one JSON line.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { cronSchedule, DistributedCronModule, DistributedCronRegistry } from '../../dist/esm/index.js';
import { BareHeap } from './bare-heap.mjs';

const [, , contender, measure, count] = process.argv;
const entries = Number(count);

const contenders = {
  // In a Nest application too: what an idle one costs is neither's doing.
  bare: async () => {
    class App {}
    Module({})(App);
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    const heap = new BareHeap();
    return {
      add: (_key, expression, run) => heap.add(cronSchedule(expression), run, Date.now()),
      start: async () => heap.start(),
      stop: async () => {
        heap.stop();
        await app.close();
      },
    };
  },
  library: async () => {
    class App {}
    Module({ imports: [DistributedCronModule.forRoot({})] })(App);
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    const registry = app.get(DistributedCronRegistry);
    return {
      add: (key, expression, run) => registry.add(key, expression, run),
      start: async () => {},
      stop: () => app.close(),
    };
  },
};

const ROUNDS = 5;
const PERIOD_MS = 3_000;

/**
 * Entries that are all due at one instant: time from that instant to the last start. Of five such instants the median, since a scheduler runs for months and its first
 * fire, with nothing compiled yet, happens once.
 */
async function due(subject) {
  let firstMs = 0;
  let started = 0;
  const lastStartMs = [];
  let ended;
  const all = new Promise((resolve) => {
    ended = resolve;
  });
  const run = () => {
    started += 1;
    if (started % entries !== 0) return;
    lastStartMs.push(performance.timeOrigin + performance.now() - (firstMs + lastStartMs.length * PERIOD_MS));
    if (lastStartMs.length === ROUNDS) ended();
  };
  for (let index = 0; index < entries; index++) subject.add(`entry-${index}`, '*/3 * * * * *', run);
  firstMs = (Math.floor(Date.now() / PERIOD_MS) + 1) * PERIOD_MS;
  await subject.start();
  await all;
  return {
    lastStartMs: lastStartMs.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)],
    all: lastStartMs.map(Math.round),
  };
}

/** Entries registered one by one, in a running scheduler: time, and heap of each. */
async function register(subject) {
  globalThis.gc();
  const heapBefore = process.memoryUsage().heapUsed;
  const startedAt = performance.now();
  for (let index = 0; index < entries; index++) subject.add(`entry-${index}`, '0 0 1 1 *', () => {});
  const registeredMs = performance.now() - startedAt;
  globalThis.gc();
  const heapBytes = (process.memoryUsage().heapUsed - heapBefore) / entries;
  await subject.start();
  return { registeredMs, heapBytes };
}

/** The same entries at rest for ten seconds: processor time. */
async function idle(subject) {
  for (let index = 0; index < entries; index++) subject.add(`entry-${index}`, '0 0 1 1 *', () => {});
  await subject.start();
  globalThis.gc();
  await sleep(1_000);
  const before = process.cpuUsage();
  await sleep(10_000);
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000 };
}

const subject = await contenders[contender]();
const result = await { due, register, idle }[measure](subject);
await subject.stop();
console.log(JSON.stringify(result));
