// The worker that all tabs of a browser share: one stream of news for all of them.
import { listen, type Message } from './source';

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
  name: string;
}
const scope = self as unknown as SharedScope;
const ports = new Set<MessagePort>();
let last: Message = { event: 'lost', data: null };

// The name of the worker is the address of the stream.
const feed = listen(scope.name, (m) => {
  if (m.event === 'open' || m.event === 'lost') last = m;
  for (const port of ports) port.postMessage(m);
});

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  ports.add(port);
  port.onmessage = (e) => {
    if (e.data === 'again') feed.again();
    if (e.data === 'bye') ports.delete(port);
  };
  port.postMessage(last);
};
