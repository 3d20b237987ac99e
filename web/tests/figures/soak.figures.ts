// make soak: a page that looks on for a long time takes no more memory in the end than it did when it was full.
import { afterAll, expect, it } from 'vitest';
import { closeBrowser, visit } from '../kit';
import { heap, perSecond, serve, tell, type Turn, words } from './kit';

const minutes = Number(process.env['PUDU_SOAK_MINUTES'] ?? 20);

afterAll(closeBrowser);

it('a page that looks on for long stays as large as it was', async () => {
  const turn = (i: number): Turn => ({
    text: words(1000),
    ...perSecond(200),
    tool_calls: [{ name: 'bash', args: { description: `Step ${i}`, command: `seq ${i} 40` } }],
  });
  const turns = Array.from({ length: minutes * 12 + 20 }, (_, i) => turn(i)); // of five seconds
  const { server, close } = await serve({ 'work on and on': turns });
  const v = await visit(server);
  await v.say('work on and on');
  const sizes: number[] = [];
  for (let i = 0; i < minutes; i++) {
    await v.page.waitForTimeout(60_000);
    sizes.push(await heap(v.page));
  }
  const nodes = await v.page.evaluate(() => document.querySelectorAll('*').length);
  tell(
    `memory of a page over ${minutes} minutes at 200 tokens/s`,
    `${sizes.map((s) => s.toFixed(1)).join(' ')} MiB, ${nodes} elements`,
    'flat',
  );
  await v.page.locator('.run-head', { hasText: 'Working' }).waitFor(); // it has looked on all the time
  const half = Math.floor(sizes.length / 2);
  // What the text itself takes grows with it: 60 kB a minute, which the page has as messages and as what it shows of
  // them.
  const grown = Math.max(...sizes.slice(half)) - Math.max(...sizes.slice(0, half));
  expect(grown).toBeLessThan(half * 1.0 + 2);
  await v.close();
  await close();
});
