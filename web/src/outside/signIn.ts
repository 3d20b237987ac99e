// The page of signing in: the form alone, without the rest of the client, and back to where somebody came from. Who is
// signed in already goes there at once.
import { send, Trouble } from '../lib/api/client';
import { at } from '../lib/base';
import { errors, sentence } from '../lib/errors';
import { wordsNow } from '../lib/i18n';
import { followSettings } from '../lib/settings';
import { signIn } from '../shell/signInWords';
import { nextOf } from './next';
import '../styles/signIn.css';

const onward = (): void => location.replace(nextOf(location.search, at(''), location.origin));

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  some: Partial<HTMLElementTagNameMap[K]>,
  ...inside: Node[]
): HTMLElementTagNameMap[K] {
  const it = Object.assign(document.createElement(name), some);
  it.append(...inside);
  return it;
}

function draw(): void {
  const w = wordsNow(signIn);
  const field = element('input', {
    id: 'token',
    name: 'token',
    className: 'in mono',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  const wrong = element('p', { className: 'note-line bad', hidden: true, role: 'alert' });
  const button = element('button', { type: 'submit', className: 'btn primary', textContent: w.go });
  const form = element(
    'form',
    { className: 'sign-in-form', ariaLabel: w.title },
    element('h2', { textContent: w.title }),
    element('p', { textContent: w.intro }),
    element(
      'div',
      { className: 'f' },
      element('label', { htmlFor: 'token', textContent: w.token }),
      field,
      element('span', { className: 'hint', textContent: w.hint }),
    ),
    wrong,
    button,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    wrong.hidden = true;
    send('session', { method: 'POST', headers: { Authorization: `Bearer ${field.value.trim()}` } }).then(
      onward,
      (error: unknown) => {
        wrong.textContent =
          error instanceof Trouble && error.status === 401 ? w.wrong : sentence(error, wordsNow(errors));
        wrong.hidden = false;
        button.disabled = false;
        field.select();
      },
    );
  });
  document.body.replaceChildren(
    element('main', { className: 'sign-in' }, element('h1', { textContent: 'Pudu' }), form),
  );
  field.focus();
}

followSettings();
void send('session', {})
  .then(async (response) => ((await response.json()) as { signed_in: boolean }).signed_in)
  .then(
    (signed) => (signed ? onward() : draw()),
    () => draw(),
  );
