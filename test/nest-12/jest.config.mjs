import base from '../../jest.config.mjs';

/** The specs that touch Nest, as ES modules on Nest 12. `npm run test:nest12` installs it and runs this. */
const { modulePathIgnorePatterns: _, ...shared } = base;

/** @type {import('jest').Config} */
export default {
  ...shared,
  rootDir: '../..',
  extensionsToTreatAsEsm: ['.ts'],
  resolver: '<rootDir>/test/nest-12/resolver.cjs',
  testMatch: ['<rootDir>/src/nest/**/*.spec.ts', '<rootDir>/src/testing/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  // They read sources as text, or try stores and processes: Nest's version cannot change their outcome.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/test/layout.spec.ts',
    '/test/(docs|stores|processes|chaos|rolling)/',
    '/test/application/catch-up-on-stores',
  ],
};
