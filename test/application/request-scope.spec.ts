import { describe, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { currentFire, DistributedCron, type FireContext } from 'nestjs-distributed-cron';
import { started } from './application.fixture.js';

let made = 0;

@Injectable({ scope: Scope.REQUEST })
class Tenant {
  readonly number = ++made;

  constructor(@Inject(REQUEST) readonly request: FireContext) {}
}

@Injectable()
class Repository {
  constructor(readonly tenant: Tenant) {}
}

interface Run {
  readonly instance: object;
  readonly tenant: Tenant;
  readonly fire: FireContext;
}

describe('a method whose provider depends on request scope', () => {
  it('two levels down runs on a fresh instance per fire, and REQUEST injects the fire', async () => {
    const runs: Run[] = [];
    @Injectable()
    class Jobs {
      constructor(private readonly repository: Repository) {}

      @DistributedCron('* * * * *', { key: 'job' })
      run(fire: FireContext) {
        expect(currentFire()).toBe(fire);
        runs.push({ instance: this, tenant: this.repository.tenant, fire });
      }
    }
    const { app, clock } = await started({ providers: [Jobs, Repository, Tenant] });
    await clock.advance(120_000);
    expect(runs.map(({ fire }) => fire.fireKey)).toEqual(['job@2026-01-01T00:01:00Z', 'job@2026-01-01T00:02:00Z']);
    for (const { tenant, fire } of runs) expect(tenant.request).toBe(fire);
    expect(runs[0]?.instance).not.toBe(runs[1]?.instance);
    expect(runs[0]?.tenant.number).not.toBe(runs[1]?.tenant.number);
    await app.close();
  });

  it('may be a controller', async () => {
    const requests: FireContext[] = [];
    @Controller()
    class Orders {
      constructor(private readonly tenant: Tenant) {}

      @DistributedCron('* * * * *', { key: 'expire' })
      expire() {
        requests.push(this.tenant.request);
      }
    }
    const { app, registry } = await started({ controllers: [Orders], providers: [Tenant] });
    await registry.triggerAndWait('expire');
    expect(requests).toMatchObject([{ entryKey: 'expire', origin: 'manual' }]);
    await app.close();
  });

  it('may be made by a factory, whose class is told by its token', async () => {
    class Jobs {
      constructor(private readonly tenant: Tenant) {}

      @DistributedCron('* * * * *', { key: 'job' })
      run() {
        return this.tenant.request.entryKey;
      }
    }
    const { app, registry } = await started({
      providers: [Tenant, { provide: Jobs, useFactory: (tenant: Tenant) => new Jobs(tenant), inject: [Tenant] }],
    });
    await expect(registry.triggerAndWait('job')).resolves.toBe('job');
    await app.close();
  });

  it('or be transient', async () => {
    const instances = new Set<object>();
    @Injectable({ scope: Scope.TRANSIENT })
    class Jobs {
      @DistributedCron('* * * * *', { key: 'job' })
      run() {
        instances.add(this);
      }
    }
    const { app, clock } = await started({ providers: [Jobs] });
    await clock.advance(120_000);
    expect(instances.size).toBe(2);
    await app.close();
  });

  it('is taken from its own module, although another provides something else under its token', async () => {
    const ran: string[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Billing {
      @DistributedCron('* * * * *', { key: 'billing' })
      run() {
        ran.push('billing');
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Shipping {
      @DistributedCron('* * * * *', { key: 'shipping' })
      run() {
        ran.push('shipping');
      }
    }
    @Module({ providers: [{ provide: 'JOBS', useClass: Billing }] })
    class BillingModule {}
    @Module({ providers: [{ provide: 'JOBS', useClass: Shipping }] })
    class ShippingModule {}
    const { app, registry } = await started({ imports: [BillingModule, ShippingModule] });
    await registry.triggerAndWait('billing');
    await registry.triggerAndWait('shipping');
    expect(ran).toEqual(['billing', 'shipping']);
    await app.close();
  });

  it('and cannot be made fails its fire, and harms nothing else', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Broken {
      constructor() {
        throw new Error('no tenant');
      }

      @DistributedCron('* * * * *', { key: 'broken' })
      run() {}
    }
    @Injectable()
    class Sound {
      @DistributedCron('* * * * *', { key: 'sound' })
      run() {}
    }
    const { app, clock, events, journal } = await started({ providers: [Broken, Sound] });
    await clock.advance(120_000);
    const ended = events.flatMap((event) =>
      event.type === 'fire.failed' || event.type === 'fire.completed' ? [`${event.fire.entryKey} ${event.type}`] : [],
    );
    expect(ended.sort()).toEqual([
      'broken fire.failed',
      'broken fire.failed',
      'sound fire.completed',
      'sound fire.completed',
    ]);
    expect(journal.texts('error')[0]).toMatch(/^broken@2026-01-01T00:01:00Z failed after \d+ ms: no tenant$/);
    await app.close();
  });
});
