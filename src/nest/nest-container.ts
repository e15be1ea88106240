import type { ExternalContextCreator, ModuleRef } from '@nestjs/core';

/** Nest's registry of modules. Its class is internal to Nest; both of its public holders keep it in a field of this name. */
export type NestContainer = Parameters<typeof ExternalContextCreator.fromContainer>[0];

export function containerOf(moduleRef: ModuleRef): NestContainer {
  return (moduleRef as unknown as { readonly container: NestContainer }).container;
}
