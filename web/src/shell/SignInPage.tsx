// The page of signing in: the form alone, and back to where somebody came from. Who is signed in already goes there at once.
import { type ReactNode, useEffect, useState } from 'react';
import { api } from '../lib/api/client';
import { go, useQueryOf } from '../lib/router';
import { Mark } from '../ui/Mark';
import { SignInForm } from './SignIn';

export default function SignInPage(): ReactNode {
  const next = useQueryOf().get('next') ?? '/';
  const [asked, setAsked] = useState(false);
  // Only paths of this server: an address of another one is none.
  const on = (): void => go(next.startsWith('/') && !next.startsWith('//') ? next : '/', true);
  useEffect(() => {
    document.title = 'Pudu';
    void api('get', '/session').then(
      (who) => (who.signed_in ? on() : setAsked(true)),
      () => setAsked(true),
    );
  }, [next]);
  return (
    <main className="sign-in">
      <h1>
        <Mark size={32} />
        Pudu
      </h1>
      {asked && <SignInForm done={on} />}
    </main>
  );
}
