import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DistributedCronEvents,
  DistributedCronModule,
  ParallelTask,
  SingletonTask,
  type TaskContext,
} from 'nestjs-distributed-cron';
import { endWithParent, tellParent } from '../application-process.js';
import { openStore } from '../open-store.js';
import type { Effect } from './effect.js';
import { EffectLedger } from './effect-ledger.js';
import type { FromReplica, Order, TaskReplicaSettings } from './messages.js';
import { COORDINATION_TIMEOUT_MS, LEASE_TTL_MS, MEMBER_EXPIRY_MS, PERIOD_MS, RUN_MS } from './timing.js';

async function start({ name, namespace, place, ledger: path }: TaskReplicaSettings): Promise<void> {
  endWithParent();
  const tell = (message: FromReplica) => tellParent(message);
  const ledger = new EffectLedger(path);
  const record = (about: Omit<Effect, 'process' | 'atMs' | 'nextInMs'>, nextInMs: number | null = null) => {
    const effect = { ...about, process: name, atMs: Date.now(), nextInMs };
    const accepted = ledger.record(effect);
    tell({ type: 'effect', effect: { ...effect, accepted } });
    return accepted;
  };
  let order: Order | undefined;
  process.on('message', (given: Order) => {
    order = given;
  });

  @Injectable()
  class Work {
    @SingletonTask({ key: 'singleton', initialDelay: 1 })
    async once(context: TaskContext) {
      const given = order;
      order = undefined;
      const token = context.fencingToken;
      const nextInMs = given?.type === 'return' ? given.nextInMs : PERIOD_MS;
      record({ task: 'singleton', token, phase: 'started' });
      if (given?.type === 'stand-still') await standStill(token);
      await wait(RUN_MS);
      // The effect is tried all the same, as by a method that had looked just before it stood still.
      const { signal } = context;
      const accepted = record({ task: 'singleton', token, phase: 'ended' }, nextInMs);
      const abortedBy = signal.aborted ? String(signal.reason?.code) : null;
      if (given?.type === 'stand-still') tell({ type: 'woke', abortedBy, accepted });
      return nextInMs;
    }

    @ParallelTask({ key: 'parallel', initialDelay: 1 })
    each() {
      record({ task: 'parallel', token: null, phase: 'started' });
      return PERIOD_MS;
    }
  }

  const { backend, end } = await openStore(place);
  @Module({
    imports: [
      DistributedCronModule.forRoot({
        backend,
        namespace,
        memberName: name,
        memberExpiry: MEMBER_EXPIRY_MS,
        leaseTtl: LEASE_TTL_MS,
        coordinationTimeout: COORDINATION_TIMEOUT_MS,
      }),
    ],
    providers: [Work, { provide: 'store', useValue: { onApplicationShutdown: end } }],
  })
  class ReplicaModule {}

  // Heard of before the application starts: the first homes are told while it does.
  const app = await NestFactory.create(ReplicaModule, { logger: ['fatal', 'error', 'warn'] });
  app.enableShutdownHooks(['SIGTERM']);
  app.get(DistributedCronEvents).events$.subscribe((event) => {
    if (event.type === 'membership.changed') tell({ type: 'members', members: event.members });
    if (event.type === 'task.home-changed' && event.taskKey === 'singleton')
      tell({ type: 'home', home: event.home, atMs: Date.now() });
  });
  await app.init();
}

/** By itself and not by its parent: so it is in the middle of the run, and holds no lock of a file, neither the ledger's nor the store's. */
async function standStill(token: number | null): Promise<void> {
  const message: FromReplica = { type: 'standing-still', token };
  await new Promise((sent) => process.send?.(message, () => sent(undefined)));
  process.kill(process.pid, 'SIGSTOP');
}

void start(JSON.parse(process.argv[2] as string) as TaskReplicaSettings);
