/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-distributed-cron$': '<rootDir>/src/index.ts',
    '^nestjs-distributed-cron/sqlite$': '<rootDir>/src/coordination/sqlite/index.ts',
    '^nestjs-distributed-cron/testing$': '<rootDir>/src/testing/index.ts',
  },
};
