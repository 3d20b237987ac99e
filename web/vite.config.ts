import react from '@vitejs/plugin-react';
import tailwind from '@tailwindcss/vite';
import { basename } from 'node:path';
import { defineConfig, type Plugin, type Rolldown } from 'vite';

// Addresses in what is built are relative, so that the server may stand below any path. A development server asks the
// one at PUDU_SERVER for everything that is no page.
const server = process.env['PUDU_SERVER'] ?? 'http://127.0.0.1:2026';

// Of the forms in which KaTeX brings its fonts, every browser that runs the pages reads the newest.
const newFontsAlone: Plugin = {
  name: 'new-fonts-alone',
  enforce: 'pre',
  transform: (code, id) =>
    /katex.*\.css/.test(id) ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, '') : null,
};

// ELK lays out what nobody asks for by default, and is as large as the rest of the diagrams.
const withoutElk: Plugin = {
  name: 'without-elk',
  enforce: 'pre',
  load: (id) => (/mermaid.*\/elk-[A-Z0-9]+\.mjs$/.test(id) ? 'throw new Error("this layout is not there")' : null),
};

const source = (path: string): string => new URL(`src/${path}`, import.meta.url).pathname;

type Look = Pick<Rolldown.PluginContext, 'getModuleInfo'>;

const needs = new Map<string, Set<string>>();

/** All that a module imports at once, or later too, itself as well. */
function neededBy(entry: string, look: Look, later = false): Set<string> {
  const known = needs.get(entry);
  if (known) return known;
  const found = new Set<string>();
  needs.set(entry, found);
  const walk = (id: string): void => {
    if (found.has(id)) return;
    found.add(id);
    const it = look.getModuleInfo(id);
    for (const other of [...(it?.importedIds ?? []), ...((later && it?.dynamicallyImportedIds) || [])]) walk(other);
  };
  walk(entry);
  return found;
}

// The pages by what they need before anything is drawn. What several of these need stands in the first that fits, and
// is one file: over a slow network each file more is a round more. What comes later is split by whoever imports it.
const firsts = [
  ['door', 'outside/signIn.ts'],
  ['away', 'outside/offline.ts'],
  ['index', 'main.tsx'],
  ['task', 'chat/ThreadPage.tsx'],
] as const;

/**
 * The file that a module of the first ones stands in. The door, the page for no server and the frame of the diagrams
 * load none that begins the pages: what they share with those is in files of its own.
 */
function fileOf(id: string, look: Look): string | null {
  const sets = firsts.map(([, entry]) => neededBy(source(entry), look));
  const at = sets.findIndex((set) => set.has(id));
  if (at < 0) return null;
  const [name] = firsts[at]!;
  if (at < 2) return sets.slice(at + 1).some((set) => set.has(id)) ? `${name}-shared` : null;
  return neededBy(source('diagram/frame.ts'), look, true).has(id) ? `drawn-${name}` : name;
}

// The page of a task asks for its files as soon as its address is known.
const filesOfTask: Plugin = {
  name: 'files-of-task',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle, chunk }) => {
      if (!bundle || !chunk) return html;
      const page = Object.values(bundle).find(
        (c) => c.type === 'chunk' && c.moduleIds.includes(source('chat/ThreadPage.tsx')),
      );
      const needed = page?.type === 'chunk' ? [page.fileName, ...page.imports] : [];
      const more = needed.filter((file) => file !== chunk.fileName && !html.includes(basename(file)));
      return html.replace('/* the files of a task */', more.map((file) => `'${file}'`).join(', '));
    },
  },
};

export default defineConfig({
  base: './',
  plugins: [react(), tailwind(), newFontsAlone, withoutElk, filesOfTask],
  build: {
    outDir: 'dist',
    chunkSizeWarningLimit: 1000,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        index: 'index.html',
        diagram: 'diagram.html',
        offline: 'offline.html',
        'sign-in': 'sign-in.html',
        sw: 'src/outside/sw.ts',
      },
      // The worker's address is one for all versions.
      output: {
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        chunkFileNames: 'assets/[name]-[hash].js',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ debugName: 'firsts', name: (id, look) => fileOf(id, look as Look) }],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '^/(api|threads|runs|news|events|models|info|sessions?|folders|search|trash|agents|memory|features|preview|user-profile|config|approvals)(/|\\?|$)':
        {
          target: server,
          headers: { origin: server },
        },
    },
  },
});
