// The palette is open while the address has ?find=: Back closes it.
import { ask } from '../lib/router';

let opened = false;

export function openPalette(): void {
  opened = true;
  ask({ find: '' });
}

/**
 * Closes it: the step that opened it is taken back. Then the address is that of the page, and something may be done
 * there.
 */
export function closePalette(then: () => void = () => {}): void {
  if (opened) {
    addEventListener('popstate', () => setTimeout(then), { once: true });
    history.back();
  } else {
    ask({ find: null }, true);
    setTimeout(then);
  }
  opened = false;
}

/** What is chosen takes the place of the palette in the history. */
export const leftPalette = (): void => {
  opened = false;
};
