// The worker of the pages. It keeps one page and what that loads, and shows it where the server cannot be reached;
// everything else goes to the server, as without it.
interface Fetched extends Event {
  request: Request;
  respondWith: (response: Promise<Response>) => void;
}
interface Extended extends Event {
  waitUntil: (what: Promise<unknown>) => void;
}
const worker = self as unknown as {
  registration: { scope: string };
  skipWaiting: () => Promise<void>;
  addEventListener: (name: string, listener: (e: never) => void) => void;
};

const kept = 'pudu-offline';
const { scope } = worker.registration;
const page = new URL('offline', scope).href;

/** Keeps the page as it is now. Its addresses are made whole: it is shown at those of others. */
async function keep(): Promise<void> {
  const response = await fetch(page, { cache: 'no-cache' });
  const text = (await response.text()).replaceAll('"./', `"${scope}`);
  const cache = await caches.open(kept);
  const files = [...text.matchAll(/"([^"]+\/assets\/[^"]+)"/g)].map((m) => m[1] ?? '');
  await cache.addAll(files);
  await cache.put(page, new Response(text, { headers: response.headers }));
}

async function shown(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const ours = await caches.match(page);
    if (ours) return ours;
    throw error;
  }
}

worker.addEventListener('install', (e: Extended) => e.waitUntil(keep().then(() => worker.skipWaiting())));
worker.addEventListener('fetch', (e: Fetched) => {
  if (e.request.method !== 'GET') return;
  if (e.request.destination === 'document') e.respondWith(shown(e.request));
  else if (e.request.url.startsWith(`${scope}assets/`))
    e.respondWith(caches.match(e.request).then((ours) => ours ?? fetch(e.request)));
});
