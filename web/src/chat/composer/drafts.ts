// What is typed and not sent yet: kept in the browser, for each task its own.

const key = (place: string): string => `pudu.draft.${place || 'new'}`;

/** What was typed at a place. */
export function draftOf(place: string): string {
  try {
    return localStorage.getItem(key(place)) ?? '';
  } catch {
    return '';
  }
}

/** Keeps what is typed; nothing removes it. */
export function keepDraft(place: string, text: string): void {
  try {
    if (text) localStorage.setItem(key(place), text);
    else localStorage.removeItem(key(place));
  } catch {
    // a browser that keeps nothing
  }
}
