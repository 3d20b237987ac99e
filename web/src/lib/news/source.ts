// What the server says is new, from one connection: GET /events. A worker that all tabs share holds it, or, where
// browsers have no such worker, each tab.

/**
 * A message of the stream: a thread that changed, one that is gone, the counts, a notice; or whether there is a
 * connection.
 */
export interface Message {
  event: 'thread' | 'gone' | 'counts' | 'reset' | 'notice' | 'open' | 'lost';
  data: unknown;
}

const names = ['thread', 'gone', 'counts', 'reset', 'notice'] as const;

/**
 * Listens to a stream of news and tells what comes, until it is closed. A browser comes back by itself; where a server
 * refuses, this does.
 */
export function listen(url: string, tell: (m: Message) => void): { again: () => void; close: () => void } {
  let source: EventSource;
  let timer = 0 as unknown as ReturnType<typeof setTimeout>;
  let seen = '';
  const open = (): void => {
    clearTimeout(timer);
    source = new EventSource(seen ? `${url}?after=${seen}` : url);
    source.onopen = () => tell({ event: 'open', data: null });
    source.onerror = () => {
      tell({ event: 'lost', data: null });
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 5000);
    };
    for (const event of names) {
      source.addEventListener(event, (e) => {
        seen = e.lastEventId || seen;
        tell({ event, data: JSON.parse(e.data as string) as unknown });
      });
    }
  };
  open();
  return {
    again: () => {
      if (source.readyState !== EventSource.CLOSED) return;
      source.close();
      open();
    },
    close: () => {
      clearTimeout(timer);
      source.close();
    },
  };
}
