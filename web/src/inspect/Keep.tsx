// A run as files to keep: a test that `pudu replay` plays again, and all that the inspector shows, as JSON.
import { type ReactNode, useState } from 'react';
import { api, fill, send } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { ui } from '../ui/words';
import type { Told } from './data';
import { save } from './save';
import { inspect } from './words';

/** Saves a run as a test, and says how it is run; why it cannot be one is said in its place. */
export function KeepAsTest({ thread, run }: { thread: string; run: string }): ReactNode {
  const w = useWords(inspect);
  const e = useWords(errors);
  const u = useWords(ui);
  const [file, setFile] = useState('');
  const [trouble, setTrouble] = useState<unknown>();
  const keep = async (): Promise<void> => {
    setTrouble(undefined);
    try {
      const response = await send(
        fill('/threads/{thread_id}/runs/{run_id}/test', { thread_id: thread, run_id: run }),
        {},
      );
      const name = `${run}.replay.yaml`;
      save(name, 'application/yaml', await response.text());
      setFile(name);
    } catch (error) {
      setTrouble(error);
    }
  };
  const shut = (): void => {
    setFile('');
    setTrouble(undefined);
  };
  return (
    <>
      <button type="button" className="btn sm" onClick={() => void keep()}>
        {w.keep}
      </button>
      {(file || trouble !== undefined) && (
        <div className="keptnote" role={file ? 'status' : 'alert'}>
          {file ? (
            <>
              <p>{w.kept(file)}</p>
              <p className="cmdline">
                <code>pudu replay {file}</code>
                <Copy bare text={() => `pudu replay ${file}`} />
              </p>
              <p className="soft">{w.keptHint}</p>
            </>
          ) : (
            <p className="note-line bad">{sentence(trouble, e)}</p>
          )}
          <button type="button" className="btn sm" onClick={shut}>
            {u.close}
          </button>
        </div>
      )}
    </>
  );
}

/** Saves the steps of a run with each call, word for word. */
export function Export({ thread, run, told }: { thread: string; run: string; told: Told }): ReactNode {
  const w = useWords(inspect);
  const [busy, setBusy] = useState(false);
  const write = async (): Promise<void> => {
    setBusy(true);
    try {
      const calls: unknown[] = [];
      for (let n = 1; n <= told.timeline.calls; n++) {
        const path = { thread_id: thread, run_id: run, call_number: String(n) };
        calls.push(
          await api('get', '/threads/{thread_id}/runs/{run_id}/calls/{call_number}', { path }).catch(() => null),
        );
      }
      save(
        `${run}.json`,
        'application/json',
        JSON.stringify(
          { timeline: { ...told.timeline, steps: told.steps, next: '' }, messages: told.messages, calls },
          null,
          1,
        ),
      );
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      className="btn ghost sm not-narrow"
      title={w.exportHint}
      disabled={busy}
      onClick={() => void write()}
    >
      <Icon name="download" />
      {w.export}
    </button>
  );
}
