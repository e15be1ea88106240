import type { DynamicModule } from '@nestjs/common';
import type { Clock } from '../ambient/clock.js';
import { CLOCK } from '../nest/tokens.js';

/**
 * The library's module on another clock, without `@nestjs/testing`, which is no dependency of an application: of two providers of one token in a module, Nest takes the
 * dynamic one.
 */
export function withClock(module: DynamicModule, clock: Clock): DynamicModule {
  return { ...module, providers: [...(module.providers ?? []), { provide: CLOCK, useValue: clock }] };
}
