import { defineConfig } from 'vitest/config';

// One after the other: what is measured is alone.
export default defineConfig({
  test: {
    dir: 'tests/figures',
    include: ['**/*.figures.ts'],
    environment: 'node',
    testTimeout: 7_200_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
});
