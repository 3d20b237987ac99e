// Edits that were not saved yet: kept in this tab, so that a look at another file or a reload loses nothing that was
// typed.

export interface Edit {
  /** What the file was when the edit began. */
  base: string;
  text: string;
}

const key = (thread: string, path: string): string => `pudu.edit.${thread}.${path}`;

export function keptEdit(thread: string, path: string): Edit | null {
  try {
    return JSON.parse(sessionStorage.getItem(key(thread, path)) ?? 'null') as Edit | null;
  } catch {
    return null;
  }
}

/** Keeps an edit, or forgets it. */
export function keepEdit(thread: string, path: string, edit: Edit | null): void {
  try {
    if (edit) sessionStorage.setItem(key(thread, path), JSON.stringify(edit));
    else sessionStorage.removeItem(key(thread, path));
  } catch {
    // a browser that keeps nothing, or no more: the page still has it
  }
}
