// What somebody asked for and did not get, at the foot of the page until it is read.
import { type ReactNode, useEffect } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { ui } from '../ui/words';

export function Failure({ of, seen }: { of: unknown; seen: () => void }): ReactNode {
  const w = useWords(ui);
  const e = useWords(errors);
  useEffect(() => {
    const timer = setTimeout(seen, 10_000);
    return () => clearTimeout(timer);
  }, [of, seen]);
  return (
    <div className="toast" role="alert">
      <span>{sentence(of, e)}</span>
      <button type="button" onClick={seen}>
        {w.close}
      </button>
    </div>
  );
}
