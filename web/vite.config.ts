import react from '@vitejs/plugin-react';
import tailwind from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

// Addresses in what is built are relative, so that the server may stand below any path. A development server asks the one at
// PUDU_SERVER for everything that is no page.
const server = process.env['PUDU_SERVER'] ?? 'http://127.0.0.1:2026';

// Of the forms in which KaTeX brings its fonts, every browser that runs the pages reads the newest.
const newFontsAlone: Plugin = {
  name: 'new-fonts-alone',
  enforce: 'pre',
  transform: (code, id) => (/katex.*\.css/.test(id) ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, '') : null),
};

// ELK lays out what nobody asks for by default, and is as large as the rest of the diagrams.
const withoutElk: Plugin = {
  name: 'without-elk',
  enforce: 'pre',
  load: (id) => (/mermaid.*\/elk-[A-Z0-9]+\.mjs$/.test(id) ? 'throw new Error("this layout is not there")' : null),
};

export default defineConfig({
  base: './',
  plugins: [react(), tailwind(), newFontsAlone, withoutElk],
  build: {
    outDir: 'dist',
    chunkSizeWarningLimit: 1000,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: 'index.html', diagram: 'diagram.html', offline: 'offline.html', 'sign-in': 'sign-in.html', sw: 'src/outside/sw.ts' },
      // The worker's address is one for all versions.
      output: { entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'), chunkFileNames: 'assets/[name]-[hash].js' },
    },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '^/(api|threads|runs|news|events|models|info|sessions?|folders|search|trash|agents|memory|features|preview|user-profile|config|approvals)(/|\\?|$)': {
        target: server,
        headers: { origin: server },
      },
    },
  },
});
