// Pictures for the documentation, which a test takes on its way where PUDU_PICTURES names a folder.
import type { Page } from 'playwright-core';

const dir = process.env['PUDU_PICTURES'] ?? '';

/** Takes a picture of the page as it is. */
export async function picture(page: Page, name: string): Promise<void> {
  if (dir) await page.screenshot({ path: `${dir}/${name}.png` });
}

/** Takes four: in light and dark, wide and narrow. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (!dir) return;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      await picture(page, `${name}-${colorScheme}-${width}`);
    }
  }
}
