import react from '@vitejs/plugin-react';
import tailwind from '@tailwindcss/vite';
import { defineConfig } from 'vite';

// Addresses in what is built are relative, so that the server may stand below any path. A development server asks the one at
// PUDU_SERVER for everything that is no page.
const server = process.env['PUDU_SERVER'] ?? 'http://127.0.0.1:2026';

export default defineConfig({
  base: './',
  plugins: [react(), tailwind()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js' } },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '^/(api|threads|runs|news|events|models|info|session|folders|search|trash|agents|features|preview|user-profile)(/|\\?|$)': {
        target: server,
        headers: { origin: server },
      },
    },
  },
});
