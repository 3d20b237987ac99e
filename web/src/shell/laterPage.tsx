// A page whose files come when it is asked for: at once where they are there already, else the frame stands alone until
// then. React's own Suspense would hold what has come back for 300 ms, so that not too much changes at once.
import { type ComponentType, type ReactNode, useEffect, useReducer, useState } from 'react';
import { Shell } from './Shell';

export interface LaterPage<P> {
  (props: P): ReactNode;
  /** Loads its files; what cannot be had is asked for again the next time. */
  load: () => Promise<unknown>;
}

export function laterPage<P extends object>(bring: () => Promise<{ default: ComponentType<P> }>): LaterPage<P> {
  let there: ComponentType<P> | undefined;
  let coming: Promise<unknown> | undefined;
  const load = (): Promise<unknown> =>
    (coming ??= bring().then(
      (it) => (there = it.default),
      (error: unknown) => {
        coming = undefined;
        throw error;
      },
    ));
  // biome-ignore lint/correctness/noComponentHookFactories: it is called once for each page, not while one is drawn
  function Page(props: P): ReactNode {
    const [, again] = useReducer((n: number) => n + 1, 0);
    const [failed, fail] = useState<unknown>();
    useEffect(() => {
      if (!there) load().then(again, fail);
    }, []);
    if (failed !== undefined) throw failed;
    const It = there;
    return It ? <It {...props} /> : <Shell>{null}</Shell>;
  }
  return Object.assign(Page, { load });
}
