// The address that leads to signing in, and back to where somebody came from. Who is signed in already goes there at once.
import { type ReactNode, useEffect } from 'react';
import { api, needsSignIn } from '../lib/api/client';
import { go, useQueryOf } from '../lib/router';
import { Shell } from './Shell';

export default function SignInPage(): ReactNode {
  const next = useQueryOf().get('next') ?? '/';
  useEffect(() => {
    void api('get', '/session').then((who) => {
      // Only paths of this server: an address of another one is none.
      if (who.signed_in) go(next.startsWith('/') && !next.startsWith('//') ? next : '/', true);
      else needsSignIn();
    });
  }, [next]);
  return <Shell>{null}</Shell>;
}
