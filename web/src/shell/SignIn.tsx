// Asks for the token over the page, which stays as it is; then what was asked of the server is asked again.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { onSignedOut, send, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { define, useWords } from '../lib/i18n';
import { listenAgain } from '../lib/news/news';
import { usePath } from '../lib/router';
import { conversations } from '../chat/talk/useConversation';

const words = define(
  {
    title: 'Sign in',
    intro: 'This server asks for its token.',
    stays: 'What you were doing stays as it is.',
    token: 'Token',
    hint: 'PUDU_TOKEN of the server, or one of its named tokens.',
    go: 'Sign in',
    wrong: 'That is not the token of this server.',
  },
  {
    title: '登录',
    intro: '此服务器需要令牌。',
    stays: '你正在做的内容会保留。',
    token: '令牌',
    hint: '服务器的 PUDU_TOKEN，或其命名令牌之一。',
    go: '登录',
    wrong: '这不是此服务器的令牌。',
  },
);

/** Over the page that asked for something; on the page of signing in the form stands by itself. */
export function SignIn(): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const here = usePath() === '/sign-in';
  const [open, want] = useState(false);
  useEffect(() => onSignedOut(() => want(!here)), [here]);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} className="dlg" aria-labelledby="sign-in" onCancel={(event) => event.preventDefault()}>
      {open && <SignInForm over done={() => want(false)} />}
    </dialog>
  );
}

/** The form that trades the token for a session; then all that waited is asked for again. */
export function SignInForm({ done, over = false }: { done: () => void; over?: boolean }): ReactNode {
  const w = useWords(words);
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
    done();
    listenAgain();
    void client.invalidateQueries();
    for (const it of conversations()) void it.resume();
  };
  return (
    <form className="grid gap-3" aria-labelledby="sign-in" onSubmit={(event) => void enter(event)}>
      <h2 id="sign-in">{w.title}</h2>
      <p>{over ? `${w.intro} ${w.stays}` : w.intro}</p>
      <div className="f">
        <label htmlFor="token">{w.token}</label>
        <input id="token" name="token" className="in mono" type="password" autoComplete="current-password" required autoFocus />
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
