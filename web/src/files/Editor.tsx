// A text that a person edits. It is saved if it still is what he began with; if not, he chooses: his, the other one, or
// a look at both.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Icon } from '../ui/Icon';
import { fileAt, filesKey, nameOf, textAt, whole } from './data';
import { hunksBetween } from './diff';
import { Hunks } from './DiffView';
import { keptEdit, keepEdit } from './edits';
import { sha256 } from './sha256';
import { files as words } from './words';

/** The largest text that the server takes, in bytes. */
const mostEdited = 2 << 20;

interface EditorProps {
  thread: string;
  path: string;
  done: () => void;
}

export function Editor({ thread, path, done }: EditorProps): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  const client = useQueryClient();
  const [kept] = useState(() => keptEdit(thread, path));
  const [base, setBase] = useState(kept?.base ?? null);
  const [text, setText] = useState(kept?.text ?? '');
  const [theirs, setTheirs] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string>();
  const [saving, setSaving] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const read = async (): Promise<string> => (await textAt(fileAt(thread, path), mostEdited)).text;
  const failed = (error: unknown): void =>
    setTrouble(error instanceof Trouble && error.status === 409 ? w.busy : sentence(error, e));
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read once; what is read later is compared with it
  useEffect(() => {
    if (kept) return;
    read().then((it) => {
      setBase(it);
      setText(it);
    }, failed);
  }, []);
  const there = base !== null;
  useEffect(() => {
    if (there) field.current?.focus();
  }, [there]);
  const write = (next: string): void => {
    setText(next);
    keepEdit(thread, path, base === null || next === base ? null : { base, text: next });
  };
  const close = (): void => {
    keepEdit(thread, path, null);
    void client.invalidateQueries({ queryKey: filesKey(thread) });
    done();
  };
  const save = async (seen: string): Promise<void> => {
    setSaving(true);
    setTrouble(undefined);
    try {
      const where = { thread_id: thread, path: whole(path).slice(1) };
      await api('put', '/threads/{thread_id}/artifacts/{path}', {
        path: where,
        body: { content: text, expected_sha256: sha256(seen) },
      });
      close();
    } catch (error) {
      if (error instanceof Trouble && error.status === 412) await read().then(setTheirs, failed);
      else failed(error);
    }
    setSaving(false);
  };
  return (
    <form
      className="fileone editor"
      aria-label={path}
      onSubmit={(event) => {
        event.preventDefault();
        if (base !== null) void save(theirs ?? base);
      }}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        if (base !== null && theirs === null && text !== base) void save(base);
      }}
    >
      <div className="crumb">
        <Icon name="edit" />
        <b className="cut">{nameOf(path)}</b>
        <span className="grow" />
        <button type="button" className="btn ghost sm" onClick={close}>
          {w.cancel}
        </button>
        {theirs === null && (
          <button type="submit" className="btn primary sm" disabled={base === null || saving || text === base}>
            {w.saveEdit}
          </button>
        )}
      </div>
      {theirs !== null && base !== null && (
        <Conflict mine={text} theirs={theirs} keep={() => void save(theirs)} take={close} busy={saving} />
      )}
      {trouble && (
        <p className="note-line bad" role="alert">
          <Icon name="alert" />
          <span>{trouble}</span>
        </p>
      )}
      <textarea
        ref={field}
        className="filetext"
        aria-label={w.text}
        spellCheck={false}
        value={text}
        disabled={base === null}
        onChange={(event) => write(event.target.value)}
      />
    </form>
  );
}

interface ConflictProps {
  mine: string;
  theirs: string;
  keep: () => void;
  take: () => void;
  busy: boolean;
}

/** The file is another one by now. */
function Conflict({ mine, theirs, keep, take, busy }: ConflictProps): ReactNode {
  const w = useWords(words);
  const [compared, setCompared] = useState(false);
  const hunks = useMemo(() => (compared ? hunksBetween(theirs, mine) : []), [compared, theirs, mine]);
  return (
    <div className="fileclash" role="alert">
      <p className="note-line ask">
        <Icon name="alert" />
        <span className="grow">{w.conflict}</span>
      </p>
      <div className="acts">
        <button type="button" className="btn sm" disabled={busy} onClick={keep}>
          {w.mine}
        </button>
        <button type="button" className="btn sm" disabled={busy} onClick={take}>
          {w.theirs}
        </button>
        <button type="button" className="btn ghost sm" aria-expanded={compared} onClick={() => setCompared(!compared)}>
          {compared ? w.hideCompare : w.compare}
        </button>
      </div>
      {compared && <Hunks hunks={hunks} label={w.compared} />}
    </div>
  );
}
