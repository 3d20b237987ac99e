// Diagrams are drawn in a frame of nobody, which is made when the first one is there and hands back images. One that
// takes too long is given up with its frame.
import { at } from '../lib/base';
import { type Asked, bounds, type Drawn } from '../diagram/wire';

/** An image of a diagram. */
export interface Image {
  url: string;
  width: number;
  height: number;
}
export type Fault = 'tooLarge' | 'tooLong' | 'wrong' | 'notThere';

/** How long a frame that is loaded may take to say so, in milliseconds. */
const grace = 1000;

let frame: HTMLIFrameElement | undefined;
let ready: Promise<void> | undefined;
let ids = 0;
const waiting = new Map<number, (d: Drawn | Fault) => void>();

function begin(): Promise<void> {
  return (ready ??= new Promise((resolve, reject) => {
    const it = document.createElement('iframe');
    it.setAttribute('sandbox', 'allow-scripts');
    it.setAttribute('aria-hidden', 'true');
    it.tabIndex = -1;
    it.title = 'diagrams';
    it.className = 'drawingroom';
    it.src = at('diagram');
    frame = it;
    const give = (): void => {
      end('notThere');
      reject(new Error('the frame for diagrams does not answer'));
    };
    let timer = setTimeout(give, bounds.millis);
    it.onload = () => {
      clearTimeout(timer);
      timer = setTimeout(give, grace); // its scripts have run by now, if they are there
    };
    const hear = (event: MessageEvent<Drawn | { ready: true }>): void => {
      if (event.source !== it.contentWindow) return;
      if ('ready' in event.data) {
        it.onload = null;
        clearTimeout(timer);
        resolve();
      } else waiting.get(event.data.id)?.(event.data);
      if (frame !== it) removeEventListener('message', hear);
    };
    addEventListener('message', hear);
    document.body.append(it);
  }));
}

/** Gives up the frame, and all that it was asked for. */
function end(why: Fault): void {
  frame?.remove();
  frame = ready = undefined;
  for (const tell of [...waiting.values()]) tell(why);
}

/** Draws a diagram; the URL of the image is the caller's to revoke. */
export async function drawing(text: string, look: Asked['look']): Promise<Image | Fault> {
  if (text.length > bounds.text) return 'tooLarge';
  try {
    await begin();
  } catch {
    return 'notThere';
  }
  const id = ++ids;
  const drawn = await new Promise<Drawn | Fault>((resolve) => {
    const timer = setTimeout(() => end('tooLong'), bounds.millis);
    waiting.set(id, (d) => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(d);
    });
    frame?.contentWindow?.postMessage({ id, text, look } satisfies Asked, '*');
  });
  if (typeof drawn === 'string') return drawn;
  if ('trouble' in drawn) return /maximum|limit/i.test(drawn.trouble) ? 'tooLarge' : 'wrong';
  return {
    url: URL.createObjectURL(new Blob([drawn.svg], { type: 'image/svg+xml' })),
    width: drawn.width,
    height: drawn.height,
  };
}

/** The colours of the page, in the words of who draws. */
export function lookNow(): Asked['look'] {
  const style = getComputedStyle(document.documentElement);
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const probe = document.createElement('span');
  document.body.append(probe);
  const colour = (token: string): string => {
    probe.style.color = `var(--${token})`;
    if (!pixel) return '#888888';
    pixel.fillStyle = getComputedStyle(probe).color;
    pixel.fillRect(0, 0, 1, 1);
    return `#${[...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((n) => n.toString(16).padStart(2, '0')).join('')}`;
  };
  const look = {
    darkMode:
      style.colorScheme === 'dark' ||
      (style.colorScheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches),
    fontFamily: 'system-ui, sans-serif',
    fontSize: '14px',
    background: colour('raised'),
    mainBkg: colour('inset'),
    primaryColor: colour('inset'),
    primaryTextColor: colour('ink'),
    primaryBorderColor: colour('field'),
    secondaryColor: colour('fern-soft'),
    tertiaryColor: colour('sunk'),
    lineColor: colour('ink-3'),
    textColor: colour('ink'),
    noteBkgColor: colour('amber-soft'),
    noteTextColor: colour('ink'),
    noteBorderColor: colour('amber-line'),
    edgeLabelBackground: colour('raised'),
  };
  probe.remove();
  return look;
}
