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
  // They read sources and documents as text: Nest's version cannot change their outcome.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/layout.spec.ts', '<rootDir>/test/docs/'],
};
