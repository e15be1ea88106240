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
  bare: async () => {
    const heap = new BareHeap();
    return {
      add: (_key, expression, run) => heap.add(cronSchedule(expression), run, Date.now()),
      start: async () => heap.start(),
      stop: async () => heap.stop(),
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

/** Entries that are all due at one instant: time from that instant to the last start. */
async function due(subject) {
  const instantMs = (Math.floor(Date.now() / 1000) + 3 + Math.ceil(entries / 50_000)) * 1000;
  const expression = `${(instantMs / 1000) % 60} * * * * *`;
  let started = 0;
  let lastMs = 0;
  const all = new Promise((resolve) => {
    const run = () => {
      started += 1;
      if (started < entries) return;
      lastMs = performance.timeOrigin + performance.now();
      resolve();
    };
    for (let index = 0; index < entries; index++) subject.add(`entry-${index}`, expression, run);
  });
  await subject.start();
  await all;
  return { lastStartMs: lastMs - instantMs };
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
