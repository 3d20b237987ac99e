// What Markdown has beyond text: colours of code, formulas, diagrams; while it is written, and when it is hostile.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, patience, Server, type Visitor, visit } from './kit';
import { watchShifts } from './shifts';

describe('Markdown', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());

  it('has colours for code, draws formulas and diagrams, and moves nothing while it is written', async () => {
    v = await visit(server);
    const { page } = v;
    const shifts = await watchShifts(page);
    await page.addInitScript(() => {
      const w = window as unknown as { half: string[] };
      w.half = [];
      new MutationObserver(() => {
        for (const p of document.querySelectorAll('.turn > .prose > p'))
          if (/^[|`$]/.test(p.textContent ?? '')) w.half.push(p.textContent ?? '');
      }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await v.say('code and formulas');
    await v.sees('That is all of it.');
    await page.locator('.diagram > img').waitFor();
    await page.waitForTimeout(400);
    expect(await shifts()).toEqual([]);
    expect(await page.evaluate(() => (window as unknown as { half: string[] }).half)).toEqual([]);
    const code = page.locator('.codebox', { hasText: 'func Sum' });
    expect(await code.locator('.hk').allInnerTexts()).toContain('func');
    expect(await code.locator('.hc').innerText()).toBe('// Sum adds.');
    expect(await code.locator('.codebar').innerText()).toMatch(/go\s*Copy/);
    expect(await page.locator('.maths .katex').count()).toBe(3);
    await v.sees(/and costs \$5, or \$10 with/);
    const image = page.locator('.diagram > img');
    expect(await image.evaluate((i: HTMLImageElement) => i.complete && i.naturalWidth > 100)).toBe(true);
    await page.getByRole('button', { name: 'Source' }).last().click();
    await page.locator('.diagram > pre', { hasText: 'B -->|no| A' }).waitFor();
    expect(await image.count()).toBe(0);
  });

  it('runs nothing of what it is given, and says what it cannot draw', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hostile markdown');
    await v.sees('Nothing happened.');
    await v.sees('This diagram cannot be drawn; its source is below.');
    await v.sees('This diagram is too large to be drawn.');
    await page.locator('.diagram > img').waitFor();
    expect(await page.evaluate(() => (window as unknown as { hit?: number }).hit)).toBeUndefined();
    expect(await page.locator('.prose a, .prose script, .prose img:not(.diagram > img)').count()).toBe(0);
    expect(await page.locator('.mathsource').count()).toBe(1);
    // What mermaid lets through, the policy of its frame stops.
    for (const said of v.wrong.splice(0)) expect(said).toMatch(/inline event handler|Loading the image/);
    const [frame] = page.frames().filter((f) => f.url().endsWith('/diagram'));
    expect(
      await frame?.evaluate(() => [
        origin,
        (() => {
          try {
            return parent.document.title;
          } catch {
            return 'closed';
          }
        })(),
      ]),
    ).toEqual(['null', 'closed']);
  });

  it('gives up a diagram whose frame does not answer', async () => {
    v = await visit(server);
    const { page } = v;
    await page.route('**/diagram', (r) => r.abort());
    await v.say('code and formulas');
    await page.getByText('The part that draws diagrams could not be loaded.').waitFor({ timeout: patience });
    await page.locator('.diagram > pre', { hasText: 'flowchart LR' }).waitFor();
  });
});
