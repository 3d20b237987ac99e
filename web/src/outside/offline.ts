// The page that stands where the server cannot be reached. It says what waits to go out, and goes on by itself when the
// server is back.
import { letters } from '../chat/talk/outbox';
import { wordsNow } from '../lib/i18n';
import { followSettings } from '../lib/settings';
import '../styles/style.css';
import { words } from './words';

/** How often it looks for the server, in milliseconds. */
const often = 3000;

function element(name: string, text: string, className = ''): HTMLElement {
  const it = document.createElement(name);
  it.textContent = text;
  if (className) it.className = className;
  return it;
}

function draw(): void {
  const w = wordsNow(words);
  const list = element('ul', '', 'outbox');
  for (const letter of letters()) list.append(element('li', letter.text));
  const again = element('button', w.again, 'btn primary');
  again.addEventListener('click', () => location.reload());
  const main = element('main', '', 'offlinepage');
  main.append(element('h1', w.title), element('p', w.body));
  if (list.childElementCount > 0) main.append(element('h2', w.waits), list);
  main.append(again);
  document.body.replaceChildren(main);
  document.title = `${w.title} · Pudu`;
}

/** Looks whether the server answers, and loads the page that was asked for. */
async function look(): Promise<void> {
  const there = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    (response) => response.ok,
    () => false,
  );
  if (there) location.reload();
}

followSettings();
draw();
addEventListener('storage', draw);
addEventListener('online', () => void look());
setInterval(() => void look(), often);
