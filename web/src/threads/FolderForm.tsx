// Makes a folder, and goes to it.
import { type FormEvent, type ReactNode, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { ask, go } from '../lib/router';
import { ui } from '../ui/words';
import { makeFolder } from './folders';
import { foldersKey } from './tasks';
import { threads } from './words';

export function FolderForm(): ReactNode {
  const w = useWords(threads);
  const u = useWords(ui);
  const e = useWords(errors);
  const client = useQueryClient();
  const [trouble, setTrouble] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
    if (!name || busy) return;
    setBusy(true);
    try {
      const made = await makeFolder(name);
      void client.invalidateQueries({ queryKey: foldersKey });
      go(`/f/${made.folder_id}`, true);
    } catch (error) {
      setTrouble(error);
      setBusy(false);
    }
  };
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => void make(event)}
      onKeyDown={(event) => event.key === 'Escape' && ask({ make: null }, true)}
    >
      <div className="flex gap-2">
        <input
          className="in"
          name="name"
          aria-label={w.folderName}
          placeholder={w.folderName}
          maxLength={60}
          required
          autoFocus
        />
        <button type="submit" className="btn primary" disabled={busy}>
          {w.create}
        </button>
        <button type="button" className="btn ghost" onClick={() => ask({ make: null }, true)}>
          {u.cancel}
        </button>
      </div>
      {trouble !== undefined && (
        <p className="note-line bad" role="alert">
          {sentence(trouble, e)}
        </p>
      )}
    </form>
  );
}
