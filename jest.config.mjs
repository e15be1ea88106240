import { SUBPATHS, specifierOf } from './scripts/subpaths.mjs';

/** The library under its own name, from the sources. */
const library = Object.fromEntries(
  Object.entries(SUBPATHS).map(([subpath, entry]) => [`^${specifierOf(subpath)}$`, `<rootDir>/src/${entry}.ts`]),
);

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  // Ends a test that hangs. None waits for real time that long, and none may fail because the machine is busy.
  testTimeout: 60_000,
  // All cores: by itself Jest leaves one free, which on a machine with two halves the speed.
  maxWorkers: '100%',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  // Sources import `./name.js`, the name that exists once they are built.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1', ...library },
  modulePathIgnorePatterns: ['<rootDir>/test/nest-12/node_modules'],
};
