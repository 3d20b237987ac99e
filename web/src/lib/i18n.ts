// The words of the pages. Each feature has a file words.ts with its own, made by define: a phrase that one of the
// languages lacks, or that takes other values there, does not compile.
import { type Language, settings, useSetting } from './settings';

type Phrase = string | ((...values: never[]) => string);
type Same<T> = { [K in keyof T]: T[K] extends (...values: infer V) => string ? (...values: V) => string : string };
/** The same words in both languages. */
export type Words<T> = Record<Language, Same<T>>;

/** Declares words. */
export function define<T extends Record<string, Phrase>>(en: T, zh: Same<T>): Words<T> {
  return { en: en as unknown as Same<T>, zh };
}

/** The words in the language that is chosen. */
export function useWords<T>(words: Words<T>): Same<T> {
  return words[useSetting('language')];
}

/** The words, for what is no component. */
export const wordsNow = <T>(words: Words<T>): Same<T> => words[settings().language];

/** A count with its noun, in English. */
export const some = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const locale = (): string => (settings().language === 'zh' ? 'zh-CN' : 'en-GB');

/** How long something took: 0.4 s, 12 s, 4 min 12 s, 2 h 5 min; what counts has whole seconds. */
export function lasted(millis: number, counts = false): string {
  const zh = settings().language === 'zh';
  const [h, min, s] = zh ? [' 小时', ' 分', ' 秒'] : [' h', ' min', ' s'];
  const seconds = millis / 1000;
  if (seconds < 10 && !counts) return `${seconds.toFixed(1)}${s}`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}${s}`;
  if (whole < 3600) return `${Math.floor(whole / 60)}${min} ${whole % 60}${s}`;
  return `${Math.floor(whole / 3600)}${h} ${Math.floor((whole % 3600) / 60)}${min}`;
}

/** How long an answer took: 412 ms, and from a second on as other times. */
export const answeredIn = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ${settings().language === 'zh' ? '毫秒' : 'ms'}` : lasted(millis);

const formats = new Map<string, Intl.DateTimeFormat>();

/** What writes times in a form: to make one takes long, and a page writes many times. */
function format(form: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale() + JSON.stringify(form);
  let it = formats.get(key);
  if (!it) formats.set(key, (it = new Intl.DateTimeFormat(locale(), form)));
  return it;
}

const clock: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit', hour12: false };
const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

/** A time of today as 9:14, another day with its date. */
export function when(stamp: string | number | Date): string {
  const time = new Date(stamp);
  const today = new Date().toDateString() === time.toDateString();
  return format(today ? clock : { ...date, ...clock }).format(time);
}

/** A day: 26 Nov, of another year with that. */
export function day(stamp: string | number | Date): string {
  const time = new Date(stamp);
  const year = time.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' as const };
  return format({ ...date, ...year }).format(time);
}

/** A size in bytes: 5.2 KB. */
export function sized(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let at = 0;
  let n = bytes;
  for (; n >= 1000 && at < units.length - 1; at++) n /= 1000;
  return `${at > 0 && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[at]}`;
}

/** A number of tokens: 62k. */
export const thousands = (n: number): string =>
  n < 1000 ? `${n}` : n < 1e6 ? `${Math.round(n / 1000)}k` : `${(n / 1e6).toFixed(1)}M`;
