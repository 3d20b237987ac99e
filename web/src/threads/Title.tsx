// The field that a title is changed in, where it stands: Enter and a click elsewhere keep it, Escape does not.
import { type ReactNode, useEffect, useRef } from 'react';
import { useWords } from '../lib/i18n';
import { useActs, type Named } from './acts';
import { rename } from './renaming';
import { threads as words } from './words';

export function TitleField({ task }: { task: Named }): ReactNode {
  const w = useWords(words);
  const acts = useActs();
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  useEffect(() => field.current?.select(), []);
  const end = (keep: boolean): void => {
    if (over.current) return;
    over.current = true;
    const row = field.current?.closest<HTMLElement>('[data-task]');
    if (keep) acts.rename(task, field.current?.value ?? '');
    rename(task.thread_id, null);
    // The focus goes back to the line, unless it has gone elsewhere.
    setTimeout(() => document.activeElement === document.body && row?.querySelector<HTMLElement>('a, button')?.focus());
  };
  return (
    <input
      ref={field}
      className="in retitle"
      aria-label={w.title}
      defaultValue={task.title}
      maxLength={200}
      autoFocus
      onBlur={() => end(true)}
      onKeyDown={(e) => {
        if (e.nativeEvent.isComposing) return;
        if (e.key === 'Enter') end(true);
        if (e.key === 'Escape') {
          e.stopPropagation();
          end(false);
        }
      }}
    />
  );
}
