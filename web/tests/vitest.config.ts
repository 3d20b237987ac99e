import { defineConfig } from 'vitest/config';

// Each file has a server and a browser of its own. One after the other is as fast on two processors.
export default defineConfig({
  test: { dir: 'tests', include: ['**/*.spec.ts'], environment: 'node', testTimeout: 90_000, hookTimeout: 120_000, fileParallelism: false },
});
