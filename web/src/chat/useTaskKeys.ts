// The keys of a task: its panel, its steps, its versions, its last answer, what it asks.
import { useKeys } from '../lib/keys';
import { ask } from '../lib/router';
import { copy } from '../ui/Copy';
import { textOf } from './talk/message';
import type { Turn } from './talk/turns';

const all = <E extends HTMLElement>(which: string): E[] => [...document.querySelectorAll<E>(which)];

/** Goes from line to line of the trails; from nowhere to the first one, or the last. */
function step(by: 1 | -1): boolean {
  const lines = all('.talk summary').filter((line) => line.offsetParent !== null);
  const here = lines.indexOf(document.activeElement as HTMLElement);
  const to = here < 0 ? lines.at(by > 0 ? 0 : -1) : lines[here + by];
  to?.focus();
  to?.scrollIntoView({ block: 'nearest' });
  return !!to;
}

/** Shows the version beside that of the last message that has several. */
function version(which: 'before' | 'after'): boolean {
  const button = all<HTMLButtonElement>(`.talk [data-version=${which}]`).at(-1);
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

interface TaskKeys {
  turns: Turn[];
  panel: boolean;
  stop: () => void;
}

export function useTaskKeys({ turns, panel, stop }: TaskKeys): void {
  useKeys({
    stop,
    panel: () => ask({ panel: panel ? null : 'run', file: null, run: null }),
    nextStep: () => step(1),
    previousStep: () => step(-1),
    openStep: () => {
      const line = document.activeElement;
      if (!(line instanceof HTMLElement) || !line.matches('.talk summary')) return false;
      line.click();
      return true;
    },
    olderVersion: () => version('before'),
    newerVersion: () => version('after'),
    copyAnswer: () => {
      const answer = turns.findLast((t) => t.answer)?.answer;
      if (!answer) return false;
      void copy(textOf(answer.message).trim());
      return true;
    },
    answer: (e) => {
      // Words in the composer are for another key; a risk has no button that a key presses.
      if (e.target instanceof HTMLTextAreaElement && e.target.value !== '') return false;
      const form = all<HTMLFormElement>('form.asking').at(0);
      if (!form?.querySelector('[type=submit]')) return false;
      form.requestSubmit();
      return true;
    },
  });
}
