// What an undo asks and says, in the place where it was begun.
import type { ReactNode } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Icon } from '../ui/Icon';
import { changes as words } from './changesWords';
import { short } from './data';
import { counted, isBusy, type Undo } from './undo';

export function UndoNote({ undo }: { undo: Undo }): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  const { state, busy } = undo;
  if (state.at === 'rest') return null;
  if (state.at === 'failed') {
    return (
      <Note bad close={undo.rest} closing={w.no}>
        {isBusy(state.error) ? w.running : sentence(state.error, e)}
      </Note>
    );
  }
  if (state.at === 'done') {
    const n = counted(state.was).reduce((a, b) => a + b);
    const lost = (state.was.not_restorable ?? []).length;
    const said = state.again ? w.takenBack : n === 0 ? w.nothing : w.done(n);
    return (
      <Note close={undo.rest} closing={w.leave}>
        {said} {lost > 0 && w.kept(lost)}
        {!state.again && n > 0 && (
          <button type="button" className="btn sm" disabled={busy} onClick={() => void undo.again()}>
            {w.takeBack}
          </button>
        )}
      </Note>
    );
  }
  if (state.at === 'clash') {
    return (
      <Note ask close={undo.rest} closing={w.leave}>
        {w.clash((state.would.conflicts ?? []).length)}
        <ul className="clashes">
          {(state.would.conflicts ?? []).map((c) => (
            <li key={c.path}>
              <code>{short(c.path)}</code>
            </li>
          ))}
        </ul>
        <button type="button" className="btn danger sm" disabled={busy} onClick={() => void undo.go(true)}>
          {w.anyway}
        </button>
      </Note>
    );
  }
  const [back, gone] = counted(state.would);
  if (back + gone === 0) {
    return (
      <Note close={undo.rest} closing={w.no}>
        {w.nothing}
      </Note>
    );
  }
  return (
    <Note close={undo.rest} closing={w.no}>
      {w.sure(back, gone)}
      <button type="button" className="btn danger sm" disabled={busy} autoFocus onClick={() => void undo.go(false)}>
        {w.yes}
      </button>
    </Note>
  );
}

interface NoteProps {
  ask?: boolean;
  bad?: boolean;
  close: () => void;
  closing: string;
  children: ReactNode;
}

function Note({ ask, bad, close, closing, children }: NoteProps): ReactNode {
  return (
    <div className={`note-line undoing${ask ? ' ask' : bad ? ' bad' : ''}`} role={bad || ask ? 'alert' : 'status'}>
      <Icon name={ask || bad ? 'alert' : 'undo'} />
      <div className="grow">{children}</div>
      <button type="button" className="btn ghost icon sm" aria-label={closing} onClick={close}>
        <Icon name="x" />
      </button>
    </div>
  );
}
