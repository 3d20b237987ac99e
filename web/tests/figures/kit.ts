// What the figures of the pages stand on: a model whose script is made here, and what a browser tells of its own work.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { Server } from '../kit';

/** A turn of the scripted model; its fields are those of docs/models.md. */
export interface Turn {
  text: string;
  tool_calls?: { name: string; args: Record<string, string> }[];
  chunk_size?: number;
  chunk_delay?: string;
}

/** A server whose model plays the turns when it is asked for them by the name. JSON is YAML. */
export async function serve(
  dialogues: Record<string, Turn[]>,
): Promise<{ server: Server; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'pudu-figures-'));
  writeFileSync(
    join(folder, 'script.yaml'),
    JSON.stringify({ dialogues: Object.entries(dialogues).map(([match, turns]) => ({ match, turns })) }),
  );
  const model = {
    name: 'scripted',
    provider: 'scripted',
    model: 'scripted',
    script: join(folder, 'script.yaml'),
    context_window: 1_000_000,
  };
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ models: [model] }));
  const server = await new Server({ config: join(folder, 'config.yaml') }).start();
  return {
    server,
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The text of so many tokens of four letters, in paragraphs. */
export function words(tokens: number): string {
  let text = '';
  for (let i = 1; i <= tokens; i++) text += i % 60 === 0 ? 'it.\n\n' : 'wor ';
  return text;
}

export const perSecond = (tokens: number): Pick<Turn, 'chunk_size' | 'chunk_delay'> => ({
  chunk_size: 4,
  chunk_delay: `${1000 / tokens}ms`,
});

/** The value that so many percent of a list are not above. */
export function percentile(list: number[], percent: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

/** Writes a line of the table, beside the bound of the design. */
export function tell(what: string, found: string, bound: string): void {
  process.stdout.write(`${what.padEnd(64)} ${found.padEnd(44)} ${bound}\n`);
}

export const devtools = (page: Page): Promise<CDPSession> => page.context().newCDPSession(page);

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  args?: { name?: string };
}

/** Traces a page while something happens, and gives how long each task of its main thread took, in milliseconds. */
export async function tasksDuring(page: Page, what: () => Promise<void>): Promise<number[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const to = join(mkdtempSync(join(tmpdir(), 'pudu-trace-')), 'trace.json');
  await browser.startTracing(page, {
    path: to,
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel', '__metadata'],
  });
  await what();
  await browser.stopTracing();
  const { traceEvents } = JSON.parse(readFileSync(to, 'utf8')) as { traceEvents: TraceEvent[] };
  rmSync(join(to, '..'), { recursive: true, force: true });
  const main = new Set(
    traceEvents
      .filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain')
      .map((e) => `${e.pid}.${e.tid}`),
  );
  return traceEvents
    .filter((e) => /RunTask$/.test(e.name) && e.ph === 'X' && main.has(`${e.pid}.${e.tid}`))
    .map((e) => (e.dur ?? 0) / 1000);
}

/** What the page's objects take once the unused are gone, in MiB. */
export async function heap(page: Page): Promise<number> {
  const d = await devtools(page);
  await d.send('HeapProfiler.collectGarbage');
  const { usedSize } = await d.send('Runtime.getHeapUsage');
  await d.detach();
  return usedSize / 2 ** 20;
}
