// Notifications of the system: when a run of over a minute has ended, and when somebody is asked, while no tab is
// looked at.
import { at } from '../lib/base';
import { wordsNow } from '../lib/i18n';
import { onNews } from '../lib/news/news';
import { go } from '../lib/router';
import type { Task } from '../threads/tasks';
import { words } from './words';

/** From which length on an end is told, in milliseconds. */
export const longRun = 60_000;

/** When each task began to run, as far as this tab has seen it. */
const began = new Map<string, number>();
const states = new Map<string, string>();

const place = 'pudu.looked';

/** Says that a tab is looked at. */
function look(): void {
  if (document.hidden) return;
  try {
    localStorage.setItem(place, String(Date.now()));
  } catch {
    // a browser that keeps nothing
  }
}

function lookedAt(): number {
  try {
    return Number(localStorage.getItem(place)) || 0;
  } catch {
    return 0;
  }
}

/** Takes in how tasks stood before this tab heard of a change. */
export function known(tasks: Pick<Task, 'thread_id' | 'state'>[]): void {
  for (const { thread_id, state } of tasks) if (!states.has(thread_id)) states.set(thread_id, state);
}

/** What is to be told of a task that has changed: that it asks, or how a long run has ended. */
export function toTell(task: Pick<Task, 'thread_id' | 'state'>, now: number): 'asks' | 'done' | 'failed' | null {
  const before = states.get(task.thread_id);
  const since = began.get(task.thread_id);
  states.set(task.thread_id, task.state);
  if (task.state === 'running') {
    if (before !== 'running') began.set(task.thread_id, now);
    return null;
  }
  began.delete(task.thread_id);
  if (before === task.state) return null;
  if (task.state === 'waiting') return 'asks';
  if (since === undefined || now - since < longRun) return null;
  return task.state === 'failed' ? 'failed' : task.state === 'answered' ? 'done' : null;
}

/** A moment, in which other tabs say that they are looked at, in milliseconds. */
const moment = 400;

function tell(task: Task, what: 'asks' | 'done' | 'failed'): void {
  const heard = Date.now();
  look();
  setTimeout(() => {
    if (lookedAt() >= heard - moment || typeof Notification === 'undefined' || Notification.permission !== 'granted')
      return;
    const w = wordsNow(words);
    // One for a task, however many tabs there are.
    const notice = new Notification(task.title || w.task, {
      body: w[what],
      tag: task.thread_id,
      icon: at('assets/icon-192-1.png'),
    });
    notice.onclick = () => {
      window.focus();
      go(`/c/${task.thread_id}`);
      notice.close();
    };
  }, moment);
}

/** Begins to tell. */
export function followNotices(): void {
  onNews((m) => {
    if (m.event !== 'thread') return;
    const task = m.data as Task;
    const what = toTell(task, Date.now());
    if (what) tell(task, what);
  });
}
