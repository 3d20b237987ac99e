import { defineConfig } from 'vitest/config';

// They run beside all other tests, at a lower priority: only what hangs takes a minute.
export default defineConfig({
  test: { include: ['src/**/*.test.{ts,tsx}'], environment: 'node', pool: 'threads', testTimeout: 60_000 },
});
