import { defineConfig } from 'vitest/config';

// Each file has a server and a browser of its own. Most of its time it waits. Files share what is imported: to load
// playwright for each of them took a fifth of their processor time. What is polled for is waited for as long as all
// else (see kit.ts).
export default defineConfig({
  test: {
    dir: 'tests',
    include: ['**/*.spec.ts'],
    environment: 'node',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    isolate: false,
  },
});
