// The state of the sandbox, as the server tells it.

export type Sandbox = { state: 'on' } | { state: 'off'; why: string } | { state: 'open' };

const off = 'code tools are off: ';

/** Whether commands run, and whether they are kept apart from the machine. Where none runs, why. */
export function sandboxOf(info: { sandbox: string; notes?: string[] | null }): Sandbox {
  if (info.sandbox === '' || /^none\b/.test(info.sandbox)) {
    return { state: 'off', why: info.notes?.find((n) => n.startsWith(off))?.slice(off.length) ?? '' };
  }
  return info.sandbox.includes('not isolated') ? { state: 'open' } : { state: 'on' };
}
