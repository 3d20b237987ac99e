// What moves in a page by itself.
import type { Page } from 'playwright-core';

/** Watches from the next page on; what it returns tells what has moved in the content until then. */
export async function watchShifts(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const w = window as unknown as { shifts: string[] };
    w.shifts = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries() as unknown as {
        hadRecentInput: boolean;
        value: number;
        sources: { node: Element | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
      }[])
        if (!e.hadRecentInput && e.sources.some((s) => s.node?.parentElement?.closest('#content')))
          w.shifts.push(
            `${e.value} ${e.sources.map((s) => `${s.node?.nodeName}.${s.node?.className ?? s.node?.textContent} ${[s.previousRect, s.currentRect].map((r) => `${r.x},${r.y}`).join(' to ')}`).join()}`,
          );
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return () => page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);
}
