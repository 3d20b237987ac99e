// Where somebody goes on who has signed in.

/** The address that ?next= names, below the base of the server; what leads to another one is its start page. */
export function nextOf(search: string, base: string, origin: string): string {
  const next = new URLSearchParams(search).get('next') ?? '';
  const home = new URL(base, origin);
  try {
    const to = new URL(base + next.replace(/^\//, ''), origin);
    return to.origin === origin && to.pathname.startsWith(home.pathname) ? to.href : home.href;
  } catch {
    return home.href;
  }
}
