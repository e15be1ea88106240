import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type CronEvent,
  DistributedCronEvents,
  DistributedCronModule,
  DistributedCronRegistry,
  type FireContext,
  onceAt,
} from 'nestjs-distributed-cron';
import { endWithParent, tellParent } from '../application-process.js';
import { openStore } from '../open-store.js';
import type { Act, Behaviour, FromReplica, Order, RecoveryReplicaSettings } from './messages.js';
import { COORDINATION_TIMEOUT_MS, DRAIN_DEADLINE_MS } from './timing.js';

const tell = (message: FromReplica) => tellParent(message);

/** Resolves when the parent can read it, whatever becomes of this process. */
const tellSurely = (message: FromReplica) =>
  new Promise<void>((sent) => {
    process.send?.(message, () => sent());
  });

async function start({ name, namespace, place, leaseTtlMs }: RecoveryReplicaSettings): Promise<void> {
  endWithParent();
  const { backend, end } = await openStore(place);
  @Module({
    imports: [
      DistributedCronModule.forRoot({
        backend,
        namespace,
        leaseTtl: leaseTtlMs,
        coordinationTimeout: COORDINATION_TIMEOUT_MS,
        drainDeadline: DRAIN_DEADLINE_MS,
      }),
    ],
    providers: [{ provide: 'store', useValue: { onModuleDestroy: end } }],
  })
  class ReplicaModule {}

  const app = await NestFactory.create(ReplicaModule, { logger: ['fatal', 'error', 'warn'] });
  const registry = app.get(DistributedCronRegistry);
  app.get(DistributedCronEvents).events$.subscribe((event) => say(name, event));
  process.once('SIGTERM', () => {
    // After its close nothing keeps it, not even whoever may send it a message.
    process.channel?.unref();
    void app.close();
  });
  process.on('message', (order: Order) => void carryOut(order, registry, name));
  await app.init();
  tell({ type: 'started' });
}

async function carryOut(order: Order, registry: DistributedCronRegistry, replica: string): Promise<void> {
  const { type, key } = order;
  if (order.type === 'arm') {
    const { at, behaviour, options } = order;
    const schedule = at === 'every second' ? '* * * * * *' : onceAt(new Date(at));
    registry.add(key, schedule, (fire) => act(fire, behaviour, replica), options);
  } else if (order.type === 'pause') await registry.pause(key, { scope: 'fleet' });
  else await registry.resume(key, { scope: 'fleet', catchUp: order.catchUp });
  tell({ type: 'done', order: type, key, atMs: Date.now() });
}

async function act(fire: FireContext, behaviour: Behaviour, replica: string): Promise<void> {
  const { entryKey: key, scheduledAt, attempt, fencingToken: token, signal } = fire;
  const acted = (phase: Act['phase'], abortedBy: string | null = null) =>
    tellSurely({
      type: 'act',
      replica,
      key,
      instantMs: scheduledAt.getTime(),
      phase,
      attempt,
      token,
      atMs: Date.now(),
      abortedBy,
    });
  await acted('began');
  if (attempt === 1 || behaviour.kind === 'kills') await behave(behaviour, signal);
  if (!signal.aborted) return acted('ended');
  await acted('aborted', String((signal.reason as { readonly code?: unknown }).code));
  throw signal.reason;
}

async function behave(behaviour: Behaviour, signal: AbortSignal): Promise<void> {
  switch (behaviour.kind) {
    case 'takes':
      await wait(behaviour.ms);
      return;
    case 'hangs':
      return new Promise(() => {});
    case 'stands-still':
      // By itself and not by its parent: so it is in its method, and holds no lock of a file.
      process.kill(process.pid, 'SIGSTOP');
      return aborted(signal);
    case 'ends-on-signal':
      return aborted(signal);
    case 'kills':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    default:
      return behaviour satisfies never;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}

function say(replica: string, event: CronEvent): void {
  const word = (key: string, instant: Date) => ({ type: 'word', replica, key, instantMs: instant.getTime() }) as const;
  if (event.type === 'fire.rejected') {
    const { fire, reason } = event;
    tell({ ...word(fire.entryKey, fire.scheduledAt), word: 'rejected', reason, count: 1 });
  } else if (event.type === 'fire.abandoned') {
    const { fire, attempts } = event;
    tell({ ...word(fire.entryKey, fire.scheduledAt), word: 'abandoned', reason: '', count: attempts });
  } else if (event.type === 'fire.missed') {
    tell({ ...word(event.entryKey, event.last), word: 'missed', reason: event.foundBy, count: event.count });
  }
}

void start(JSON.parse(process.argv[2] as string) as RecoveryReplicaSettings);
