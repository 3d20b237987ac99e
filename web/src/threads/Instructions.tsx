// The instructions of a folder. What is typed is kept in the browser until it is saved.
import { type ReactNode, useState } from 'react';
import { draftOf, keepDraft } from '../chat/composer/drafts';
import { errors, sentence } from '../lib/errors';
import { sized, useWords } from '../lib/i18n';
import type { Folder } from './folders';
import { folderWords } from './folderWords';

/** How many bytes they may have. */
const most = 16 << 10;

export function Instructions({ folder, save }: { folder: Folder; save: (text: string) => Promise<void> }): ReactNode {
  const w = useWords(folderWords);
  const e = useWords(errors);
  const place = `instructions.${folder.folder_id}`;
  const [text, setText] = useState(() => draftOf(place) || folder.instructions);
  const [state, setState] = useState<'' | 'busy' | 'saved'>('');
  const [trouble, setTrouble] = useState<unknown>();
  const changed = text !== folder.instructions;
  const size = new TextEncoder().encode(text).length;
  const write = (next: string): void => {
    setText(next);
    setState('');
    keepDraft(place, next === folder.instructions ? '' : next);
  };
  const keep = async (): Promise<void> => {
    setState('busy');
    setTrouble(undefined);
    try {
      await save(text);
      keepDraft(place, '');
      setState('saved');
    } catch (error) {
      setTrouble(error);
      setState('');
    }
  };
  return (
    <div className="f">
      <label htmlFor="instructions">{w.instructions}</label>
      <textarea
        id="instructions"
        className="in"
        rows={Math.min(12, Math.max(3, text.split('\n').length))}
        placeholder={w.instructionsPlace}
        aria-describedby="instructions-hint"
        value={text}
        onChange={(event) => write(event.target.value)}
      />
      <span className="hint" id="instructions-hint">
        {w.instructionsHint}
      </span>
      {size > most && (
        <p className="note-line bad" role="alert">
          {w.long(sized(size), sized(most))}
        </p>
      )}
      {trouble !== undefined && (
        <p className="note-line bad" role="alert">
          {sentence(trouble, e)}
        </p>
      )}
      <div className="flex gap-2 items-center" role="status">
        {changed && (
          <>
            <button
              type="button"
              className="btn primary"
              disabled={state === 'busy' || size > most}
              onClick={() => void keep()}
            >
              {w.save}
            </button>
            <button type="button" className="btn ghost" onClick={() => write(folder.instructions)}>
              {w.undo}
            </button>
          </>
        )}
        {!changed && state === 'saved' && <span className="soft">{w.saved}</span>}
      </div>
    </div>
  );
}
