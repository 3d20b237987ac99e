// The whole client: the page that the address names, and what stands where one is missing or could not be loaded.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Component, type ReactNode, useMemo } from 'react';
import { Trouble } from './lib/api/client';
import { useWords } from './lib/i18n';
import { Link, match, usePath } from './lib/router';
import { pages } from './pages';
import { Shell } from './shell/Shell';
import { shell } from './shell/words';
import { SignIn } from './shell/SignIn';
import { Notice } from './ui/Notice';
import { Toasts } from './ui/Toasts';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What the server has refused stays refused; what did not reach it is tried again.
      retry: (tries, error) => tries < 2 && !(error instanceof Trouble && error.status >= 400 && error.status < 500),
      refetchOnWindowFocus: false,
      // The server may be on this machine: a browser without a network asks it all the same.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
  },
});

export function App(): ReactNode {
  return (
    <QueryClientProvider client={client}>
      <Failing>
        <Routed />
      </Failing>
      <SignIn />
      <Toasts />
    </QueryClientProvider>
  );
}

function Routed(): ReactNode {
  const path = usePath();
  return useMemo(() => {
    for (const page of pages) {
      const values = match(page.form, path);
      if (values) return page.show(values);
    }
    return <NoPage />;
  }, [path]);
}

function NoPage(): ReactNode {
  const w = useWords(shell);
  return (
    <Shell>
      <div className="page">
        <h1 className="sr">{w.noPage}</h1>
        <Notice icon="search" text={w.noPage}>
          <Link className="btn primary" to="/">
            {w.home}
          </Link>
        </Notice>
      </div>
    </Shell>
  );
}

/** Stands for a page that fails: most of all one whose files are another version's by now. */
class Failing extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Failed /> : this.props.children;
  }
}

function Failed(): ReactNode {
  const w = useWords(shell);
  return (
    <main className="page">
      <Notice icon="alert" text={w.pageFailed}>
        <button type="button" className="btn primary" onClick={() => location.reload()}>
          {w.reload}
        </button>
      </Notice>
    </main>
  );
}
