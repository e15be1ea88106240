import { describe, expect, it } from '@jest/globals';
import { type DynamicModule, forwardRef, Module, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ConfigurationError, DistributedCronModule } from 'nestjs-distributed-cron';
import { Journal } from './application.fixture.js';

async function faultsOf(imports: NonNullable<ModuleMetadata['imports']>) {
  @Module({ imports })
  class AppModule {}
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(new Journal())
    .compile();
  const error = await testing.init().then(
    async () => testing.close(),
    (cause: unknown) => cause,
  );
  return error instanceof ConfigurationError ? error.faults : error;
}

describe('forRoot imported more than once stops the application and names', () => {
  it('both modules', async () => {
    @Module({ imports: [DistributedCronModule.forRoot({})] })
    class BillingModule {}
    @Module({ imports: [DistributedCronModule.forRootAsync({ useFactory: () => ({}) })] })
    class ReportsModule {}
    expect(await faultsOf([BillingModule, ReportsModule])).toMatchObject([
      { code: 'MODULE_TWICE', got: 'imported by BillingModule and ReportsModule' },
    ]);
  });

  it('a module that is dynamic itself', async () => {
    @Module({})
    class JobsModule {
      static register(): DynamicModule {
        return { module: JobsModule, imports: [DistributedCronModule.forRoot({})] };
      }
    }
    expect(await faultsOf([JobsModule.register(), DistributedCronModule.forRoot({})])).toMatchObject([
      { code: 'MODULE_TWICE', got: 'imported by AppModule and JobsModule' },
    ]);
  });

  it('the one module that imports it twice, and a forward reference', async () => {
    const first = DistributedCronModule.forRoot({});
    expect(await faultsOf([first, DistributedCronModule.forRoot({})])).toMatchObject([
      { code: 'MODULE_TWICE', got: 'imported by AppModule (2 times)' },
    ]);
    @Module({ imports: [forwardRef(() => DistributedCronModule.forRoot({}))] })
    class LateModule {}
    expect(await faultsOf([LateModule, first])).toMatchObject([
      { code: 'MODULE_TWICE', got: 'imported by AppModule and LateModule' },
    ]);
  });

  it('once for all its imports, however deep they lie', async () => {
    @Module({ imports: [DistributedCronModule.forRoot({})] })
    class Inner {}
    @Module({ imports: [Inner] })
    class Middle {}
    @Module({ imports: [Middle, DistributedCronModule.forRoot({})] })
    class Outer {}
    expect(await faultsOf([Outer])).toMatchObject([{ got: 'imported by Outer and Inner' }]);
  });
});

describe('the same import', () => {
  it('in two modules is one scheduler', async () => {
    const cron = DistributedCronModule.forRoot({});
    @Module({ imports: [cron] })
    class BillingModule {}
    expect(await faultsOf([cron, BillingModule])).toBeUndefined();
  });
});
