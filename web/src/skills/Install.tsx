// Installing a skill: the scan's verdict of a file, which is confirmed or not.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { go } from '../lib/router';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { toast } from '../ui/Toasts';
import { ui } from '../ui/words';
import { again, findingsOf, install, scan, type Scanned } from './data';
import { Findings } from './Findings';
import { skills } from './words';

export function Install({ file, done }: { file: File; done: () => void }): ReactNode {
  const w = useWords(skills);
  const u = useWords(ui);
  const e = useWords(errors);
  const client = useQueryClient();
  const [scanned, setScanned] = useState<Scanned>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let gone = false;
    scan(file).then(
      (found) => !gone && setScanned(found),
      (why: unknown) => !gone && setError(why),
    );
    return () => {
      gone = true;
    };
  }, [file]);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      const name = await install(file);
      await again(client);
      done();
      toast({ text: w.installed(name) });
      go(`/library/skills/${name}`);
    } catch (why) {
      setError(why);
      await again(client); // a refused one is kept with its reason
    }
    setBusy(false);
  };
  const findings = error instanceof Trouble ? findingsOf(error.detail) : (scanned?.findings ?? []);
  const title = error ? w.blocked(file.name) : scanned ? w.ask(scanned.name) : w.looking(file.name);
  return (
    <section className="card" aria-label={title} aria-busy={!scanned && !error}>
      <div className="acts">
        {error ? <Icon name="alert" /> : scanned && !busy ? <Icon name="skill" /> : <Glyph state="live" />}
        <b className="strong">{title}</b>
      </div>
      {scanned && !error && <p>{scanned.description}</p>}
      {error !== undefined && (
        <p className="note-line bad" role="alert">
          {sentence(error, e)}
        </p>
      )}
      {scanned && !error && (
        <p className="soft">{busy ? w.installing : findings.length > 0 ? w.found(findings.length) : w.clean}</p>
      )}
      {findings.length > 0 && <Findings list={findings} />}
      <div className="acts">
        {scanned && !error && (
          <button type="button" className="btn primary" disabled={busy} onClick={() => void confirm()}>
            {w.install}
          </button>
        )}
        <button type="button" className="btn ghost" disabled={busy} onClick={done}>
          {error ? u.close : u.cancel}
        </button>
      </div>
    </section>
  );
}
