/**
 * The smallest application: boots, waits for its first fire, closes, and ends because nothing keeps it alive. The pack test copies it as
 * app.cts and app.mts, compiles both against the installed tarball, and runs them.
 */
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedCron, DistributedCronEvents, DistributedCronModule } from 'nestjs-distributed-cron';
import { filter, firstValueFrom } from 'rxjs';

@Injectable()
class Beats {
  count = 0;

  @DistributedCron('* * * * * *', { key: 'beat' })
  beat(): void {
    this.count += 1;
  }
}

@Module({ imports: [DistributedCronModule.forRoot({})], providers: [Beats] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'fatal'] });
  const { events$ } = app.get(DistributedCronEvents);
  await firstValueFrom(events$.pipe(filter((event) => event.type === 'fire.completed')));
  await app.close();
  console.log(`beats=${app.get(Beats).count}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
