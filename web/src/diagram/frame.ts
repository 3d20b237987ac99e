// The page that draws diagrams. It runs in a frame of nobody: it has no origin, no cookie, no network but its own
// files, and hands back a picture. What a diagram contains can reach nothing else.
import mermaid from 'mermaid';
import { type Asked, bounds, type Drawn } from './wire';

/** Draws one diagram as an image that stands alone. */
async function draw({ id, text, look }: Asked): Promise<Drawn> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    maxTextSize: bounds.text,
    maxEdges: bounds.edges,
    layout: 'dagre',
    look: 'classic',
    state: { layout: 'dagre' },
    theme: 'base',
    themeVariables: look,
    fontFamily: String(look['fontFamily']),
  });
  try {
    const { svg } = await mermaid.render(`drawing-${id}`, text);
    return { id, ...alone(svg) };
  } catch (error) {
    return { id, trouble: error instanceof Error ? error.message : String(error) };
  } finally {
    document.body.replaceChildren();
  }
}

/** The drawing as XML of its own size: an image has no page around it that would give it one. */
function alone(svg: string): { svg: string; width: number; height: number } {
  const drawn = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
  if (!drawn) throw new Error('nothing was drawn');
  const [, , width = 0, height = 0] = (drawn.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!(width > 0 && height > 0)) throw new Error('nothing was drawn');
  drawn.removeAttribute('style');
  drawn.setAttribute('width', String(Math.ceil(width)));
  drawn.setAttribute('height', String(Math.ceil(height)));
  return { svg: new XMLSerializer().serializeToString(drawn), width: Math.ceil(width), height: Math.ceil(height) };
}

// One after the other: mermaid has one configuration.
let last: Promise<unknown> = Promise.resolve();
addEventListener('message', (event: MessageEvent<Asked>) => {
  if (event.source !== parent) return;
  last = last.then(async () => parent.postMessage(await draw(event.data), '*'));
});
parent.postMessage({ ready: true }, '*');
