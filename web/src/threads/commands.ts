// What can be done from the palette.
import { draftOf, keepDraft } from '../chat/composer/drafts';
import { at } from '../lib/base';
import { wordsNow } from '../lib/i18n';
import { keyOf } from '../lib/keys';
import { go, match } from '../lib/router';
import { change, settings } from '../lib/settings';
import { turnTheme } from '../shell/Sidebar';
import type { IconName } from '../ui/Icon';
import { type Acts, printTask } from './acts';
import { palette } from './paletteWords';
import { rename } from './renaming';
import type { Task } from './tasks';

export interface Command {
  key: string;
  label: string;
  icon: IconName;
  keys?: string;
  /** Where it leads, or what it does. */
  to?: string;
  go?: () => void;
  /** The palette stays open. */
  stays?: boolean;
}

/** The commands whose names have the words of a query; what begins with the query itself is always there. */
export function commandsFor(
  q: string,
  here: Task | undefined,
  acts: Acts,
  archived: boolean,
  setArchived: (on: boolean) => void,
): Command[] {
  const w = wordsNow(palette);
  const words = q.trim();
  const fresh: Command = {
    key: 'new',
    label: words ? w.newOf(words) : w.newTask,
    icon: 'plus',
    keys: keyOf('newTask'),
    go: () => begin(words),
  };
  if (!words) return [fresh, ...plain(here, acts)];
  const named = plain(here, acts).filter((c) => c.label.toLowerCase().includes(words.toLowerCase()));
  return [
    ...named,
    fresh,
    { key: 'all', label: w.allOf(words), icon: 'search', to: `/c?q=${encodeURIComponent(words)}` },
    {
      key: 'archived',
      label: archived ? w.withoutArchived : w.archivedToo,
      icon: 'archive',
      stays: true,
      go: () => setArchived(!archived),
    },
  ];
}

/** Begins a task with words, behind those that were typed for a new one already. */
function begin(words: string): void {
  const field = document.querySelector<HTMLTextAreaElement>('[data-composer]');
  if (match('/', location.pathname.slice(at('').length)) && field) {
    if (words) {
      field.setRangeText(field.value ? `\n${words}` : words, field.value.length, field.value.length, 'end');
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    setTimeout(() => field.focus());
  } else {
    const draft = draftOf('');
    if (words) keepDraft('', draft ? `${draft}\n${words}` : words);
    go('/');
  }
}

function plain(here: Task | undefined, acts: Acts): Command[] {
  const w = wordsNow(palette);
  const ofTask: Command[] = here
    ? [
        {
          key: 'rename',
          label: w.renameIt,
          icon: 'edit',
          keys: keyOf('rename'),
          go: () => rename(here.thread_id, 'head'),
        },
        { key: 'archive', label: w.archiveIt, icon: 'archive', go: () => void acts.archive(here) },
        { key: 'print', label: w.printIt, icon: 'out', go: () => printTask(here.thread_id) },
        { key: 'remove', label: w.removeIt, icon: 'trash', go: () => void acts.remove(here) },
      ]
    : [];
  return [
    ...ofTask,
    { key: 'tasks', label: w.allTasks, icon: 'queue', to: '/c' },
    { key: 'folder', label: w.newFolder, icon: 'folder', to: '/c?make=folder' },
    { key: 'bin', label: w.bin, icon: 'trash', to: '/c?state=bin' },
    { key: 'skills', label: w.skills, icon: 'skill', to: '/library/skills' },
    { key: 'memory', label: w.memory, icon: 'memory', to: '/library/memory' },
    { key: 'settings', label: w.settings, icon: 'settings', to: '/settings/general' },
    { key: 'theme', label: w.theme, icon: 'theme', go: turnTheme },
    {
      key: 'language',
      label: w.language,
      icon: 'globe',
      go: () => change({ language: settings().language === 'zh' ? 'en' : 'zh' }),
    },
    {
      key: 'sidebar',
      label: w.sidebar,
      icon: 'sidebar',
      keys: keyOf('sidebar'),
      go: () => change({ sideHidden: !settings().sideHidden }),
    },
  ];
}
