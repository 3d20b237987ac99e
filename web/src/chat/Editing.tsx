// A field in the place of words that are edited, with those for the secrets of the skill that they name.
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { define, useWords } from '../lib/i18n';
import { given, type Secrets } from './secrets/held';
import { namedSkill } from './secrets/named';
import { useGap, useNeeds, useTyped } from './secrets/needs';

const SecretFields = lazy(() => import('./secrets/SecretFields'));

const editing = define(
  { save: 'Send', cancel: 'Cancel', message: 'Message' },
  { save: '发送', cancel: '取消', message: '消息' },
);

export function Editing({
  text,
  send,
  close,
}: {
  text: string;
  send: (words: string, secrets?: Secrets) => void;
  close: () => void;
}): ReactNode {
  const w = useWords(editing);
  const [words, setWords] = useState(text);
  const skill = namedSkill(words);
  const needs = useNeeds(skill);
  const [typed, type] = useTyped(skill);
  const gap = useGap(skill, needs ?? [], typed);
  return (
    <form
      className="editing"
      onSubmit={(e) => {
        e.preventDefault();
        if (words.trim() && (!needs || !gap.ready())) return;
        if (words.trim()) send(words.trim(), given(typed, needs ?? []));
        close();
      }}
    >
      <textarea
        className="in"
        rows={3}
        aria-label={w.message}
        value={words}
        autoFocus
        onChange={(e) => setWords(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === 'Escape') close();
          if (e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing) {
            e.preventDefault();
            e.currentTarget.form?.requestSubmit();
          }
        }}
      />
      {needs && needs.length > 0 && (
        <Suspense fallback={null}>
          <SecretFields skill={skill} goes="message" needs={needs} values={typed} change={type} missing={gap.missing} />
        </Suspense>
      )}
      <div className="flex gap-2 justify-end">
        <button type="button" className="btn ghost sm" onClick={close}>
          {w.cancel}
        </button>
        <button type="submit" className="btn primary sm" disabled={!words.trim()}>
          {w.save}
        </button>
      </div>
    </form>
  );
}
