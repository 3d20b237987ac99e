// scripts/web figures mockups: pages beside the mockups of the design, as docs/pictures/compare. PUDU_MOCKUPS is the
// folder of the mockups' pictures.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import UPNG from 'upng-js';
import { dress, read } from '../compared';
import { closeBrowser, Server, type Visitor, visit } from '../kit';
import { furnish } from '../library';

const mockups = process.env['PUDU_MOCKUPS'] ?? '';
const to = new URL('../../../docs/pictures/compare/', import.meta.url).pathname;
const server = new Server();
const bare = new Server({ model: false });

/** A task that has run, or waits, or, without wait, is at work; the address of its page. */
async function task(content: string, wait = true): Promise<string> {
  const { thread_id } = await server.post<{ thread_id: string }>('/threads', {});
  const run = {
    assistant_id: 'lead_agent',
    input: { messages: [{ type: 'human', content }] },
    context: { mode: 'ultra', is_plan_mode: true, subagent_enabled: true },
  };
  await server.post(`/threads/${thread_id}/runs${wait ? '/wait' : ''}`, run);
  return `/c/${thread_id}`;
}

beforeAll(async () => {
  if (!mockups) throw new Error('set PUDU_MOCKUPS to the folder of the pictures of the mockups');
  mkdirSync(to, { recursive: true });
  await Promise.all([server.start(), bare.start()]);
});
afterAll(async () => {
  await closeBrowser();
  await Promise.all([server.close(), bare.close()]);
});

/** Puts two pictures side by side, in a palette, at most 150 KB large. */
function pair(left: Buffer, right: Buffer): Buffer {
  const both = [read(left), read(right)];
  const gap = 16;
  const width = both.reduce((sum, p) => sum + p.width, gap);
  const height = Math.max(...both.map((p) => p.height));
  const out = new Uint8Array(width * height * 4).fill(200);
  let x = 0;
  for (const p of both) {
    for (let y = 0; y < p.height; y++)
      out.set(p.points.subarray(y * p.width * 4, (y + 1) * p.width * 4), (y * width + x) * 4);
    x += p.width + gap;
  }
  for (const colours of [256, 128, 64, 32, 16]) {
    const png = Buffer.from(UPNG.encode([out.buffer], width, height, colours));
    if (png.length < 150_000 || colours === 16) return png;
  }
  throw new Error('unreachable');
}

interface Shot {
  path: string;
  until: string | RegExp;
  on?: Server;
  options?: BrowserContextOptions;
  then?: (v: Visitor) => Promise<unknown>;
}

async function beside(mockup: string, { path, until, on = server, options = {}, then }: Shot): Promise<void> {
  const v = await visit(on, { viewport: { width: 1440, height: 900 }, ...options });
  await dress(v.context);
  await v.to(path);
  await v.sees(until);
  await then?.(v);
  await v.quiet();
  const ours = await v.page.screenshot({ animations: 'disabled', caret: 'hide' });
  await v.close();
  writeFileSync(join(to, `${mockup}.png`), pair(readFileSync(join(mockups, `${mockup}.png`)), ours));
}

it('chats', async () => {
  const sized = await task('Please size the index for 40 million passages');
  const report = await task('Please make a report');
  await task('Please show everything');
  const waits = await task('It needs approval');
  await task('Please ask how to do it');
  await beside('chat-done-light', { path: `${sized}?panel=files&file=outputs/sizes.md`, until: /takes 123 GB/ });
  const [run] = await server.get<{ run_id: string }[]>(`${sized.replace('/c/', '/threads/')}/runs`);
  await beside('run-inspector-light', { path: `${sized}/run/${run?.run_id}`, until: '7,600' });
  await beside('approval-question-light', { path: waits, until: 'May Pudu run this command?' });
  await beside('chat-empty-light', { path: '/', until: 'What needs doing?' });
  await beside('mobile-390', {
    path: sized,
    until: /takes 123 GB/,
    options: { viewport: { width: 390, height: 844 } },
  });
  await server.post(`${report.replace('/c/', '/threads/')}/runs/wait`, {
    assistant_id: 'lead_agent',
    input: { messages: [{ type: 'human', content: 'change it' }] },
  });
  await beside('files-diff-light', { path: `${report}?panel=changes`, until: 'workspace/best_months.py' });
  await beside('threads-search-light', { path: '/c?q=index', until: 'passages' });
  await beside('palette-light', { path: '/c?find=', until: 'passages', then: (v) => v.page.keyboard.type('index') });
  const working = await task('Please share the work', false);
  await beside('chat-running-light', { path: `${working}?panel=run`, until: 'Count the lines' });
});

it('the library, settings, and the first run', async () => {
  const { folder_id } = await server.post<{ folder_id: string }>('/folders', {
    name: 'Finance',
    instructions: 'Our figures are in euros without VAT.',
  });
  await furnish(server, folder_id);
  await beside('agents-skills-light', { path: '/library/agents', until: 'bookkeeper' });
  await beside('memory-light', { path: '/library/memory?fact=machine', until: '128 GB' });
  await beside('settings-models-light', { path: '/settings/models', until: 'scripted' });
  await beside('first-run-light', { path: '/welcome', until: /Pudu/, on: bare });
});
