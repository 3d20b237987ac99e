// Asks for the token over the page, which stays as it is; then what was asked of the server is asked again.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { onSignedOut, send, signedIn, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { listenAgain } from '../lib/news/news';
import { forgetSecrets } from '../chat/secrets/held';
import { conversations } from '../chat/talk/useConversation';
import { signIn } from './signInWords';

/** Over the page that asked for something. The page of signing in is one of its own: outside/signIn.ts. */
export function SignIn(): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, want] = useState(false);
  useEffect(
    () =>
      onSignedOut(() => {
        forgetSecrets();
        want(true);
      }),
    [],
  );
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} className="dlg" aria-labelledby="sign-in" onCancel={(event) => event.preventDefault()}>
      {open && <SignInForm done={() => want(false)} />}
    </dialog>
  );
}

/** The form that trades the token for a session; then all that waited is asked for again. */
function SignInForm({ done }: { done: () => void }): ReactNode {
  const w = useWords(signIn);
  const e = useWords(errors);
  const client = useQueryClient();
  const [trouble, setTrouble] = useState('');
  const enter = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    try {
      await send('session', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    } catch (error) {
      setTrouble(error instanceof Trouble && error.status === 401 ? w.wrong : sentence(error, e));
      return;
    }
    signedIn();
    done();
    listenAgain();
    void client.invalidateQueries();
    for (const it of conversations()) void it.resume();
  };
  return (
    <form className="grid gap-3" aria-labelledby="sign-in" onSubmit={(event) => void enter(event)}>
      <h2 id="sign-in">{w.title}</h2>
      <p>{`${w.intro} ${w.stays}`}</p>
      <div className="f">
        <label htmlFor="token">{w.token}</label>
        <input
          id="token"
          name="token"
          className="in mono"
          type="password"
          autoComplete="current-password"
          required
          autoFocus
        />
        <span className="hint">{w.hint}</span>
      </div>
      {trouble && (
        <p className="note-line bad" role="alert">
          {trouble}
        </p>
      )}
      <button type="submit" className="btn primary justify-self-start">
        {w.go}
      </button>
    </form>
  );
}
