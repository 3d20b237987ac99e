// What moves in a page by itself.
import type { Page } from 'playwright-core';

interface Source {
  node: Element | null;
  previousRect: DOMRectReadOnly;
  currentRect: DOMRectReadOnly;
}

/** Watches from the next page on; what it returns tells what has moved in the content until then. */
export async function watchShifts(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const w = window as unknown as { shifts: string[] };
    w.shifts = [];
    const place = (r: DOMRectReadOnly): string => `${r.x},${r.y}`;
    const told = (s: Source): string =>
      `${s.node?.nodeName}.${s.node?.className ?? s.node?.textContent} ${place(s.previousRect)} to ${place(s.currentRect)}`;
    new PerformanceObserver((list) => {
      for (const e of list.getEntries() as unknown as {
        hadRecentInput: boolean;
        value: number;
        sources: Source[];
      }[])
        if (!e.hadRecentInput && e.sources.some((s) => s.node?.parentElement?.closest('#content')))
          w.shifts.push(`${e.value} ${e.sources.map(told).join()}`);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return () => page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);
}
