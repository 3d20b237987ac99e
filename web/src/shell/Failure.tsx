// What somebody asked for and did not get, as a line at the foot of the page.
import { type ReactNode, useEffect } from 'react';
import { errors, sentence } from '../lib/errors';
import { wordsNow } from '../lib/i18n';
import { toast } from '../ui/Toasts';

/** Says what went wrong. */
export const failed = (error: unknown): void => toast({ text: sentence(error, wordsNow(errors)), bad: true });

export function Failure({ of, seen }: { of: unknown; seen: () => void }): ReactNode {
  useEffect(() => {
    failed(of);
    seen();
  }, [of, seen]);
  return null;
}
