// A form in the place of a button that begins a run once more: the secrets of its skill, and the button. Where the
// skill has none, the run begins at once.
import { type ReactNode, useEffect, useRef } from 'react';
import { define, useWords } from '../../lib/i18n';
import { given, type Secrets } from './held';
import { useGap, useNeeds, useTyped } from './needs';
import SecretFields from './SecretFields';

const words = define({ cancel: 'Cancel' }, { cancel: '取消' });

interface BringProps {
  skill: string;
  /** What the button says. */
  label: string;
  go: (secrets?: Secrets) => void;
  cancel: () => void;
}

export default function Bring({ skill, label, go, cancel }: BringProps): ReactNode {
  const w = useWords(words);
  const needs = useNeeds(skill);
  const [values, change] = useTyped(skill);
  const gap = useGap(skill, needs ?? [], values);
  const none = needs?.length === 0;
  const gone = useRef(false);
  useEffect(() => {
    if (!none || gone.current) return;
    gone.current = true;
    go();
  });
  if (!needs || none) return null;
  return (
    <form
      className="bringing"
      aria-label={label}
      onSubmit={(e) => {
        e.preventDefault();
        if (gap.ready()) go(given(values, needs));
      }}
      onKeyDown={(e) => {
        if (e.key === 'Escape') cancel();
      }}
    >
      <SecretFields skill={skill} goes="message" needs={needs} values={values} change={change} missing={gap.missing} />
      <div className="flex gap-2 justify-end">
        <button type="button" className="btn ghost sm" onClick={cancel}>
          {w.cancel}
        </button>
        <button type="submit" className="btn primary sm">
          {label}
        </button>
      </div>
    </form>
  );
}
