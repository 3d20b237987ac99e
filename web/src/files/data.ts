// The files of a task as the pages know them: what there is, where it lies, and what of it can be shown how.
import { useQuery } from '@tanstack/react-query';
import { type Answer, api, fill, send } from '../lib/api/client';
import { at } from '../lib/base';

/** A file or folder of a task. */
export type Entry = NonNullable<Answer<'/threads/{thread_id}/files', 'get'>>[number];

/** Where the sandbox has the files of a task. */
export const home = '/mnt/user-data/';

/** A path as a person knows it, and the one that the server knows it by. */
export const short = (path: string): string => (path.startsWith(home) ? path.slice(home.length) : path);
export const whole = (path: string): string => (path.startsWith('/') ? path : home + path);

/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** How a file is shown. */
export type Kind =
  | 'markdown'
  | 'json'
  | 'csv'
  | 'html'
  | 'text'
  | 'image'
  | 'pdf'
  | 'audio'
  | 'video'
  | 'office'
  | 'other';

const kinds: Record<Exclude<Kind, 'other'>, string> = {
  markdown: 'md markdown mdx',
  json: 'json geojson webmanifest ipynb',
  csv: 'csv tsv',
  html: 'html htm',
  image: 'png jpg jpeg gif webp avif svg bmp ico',
  pdf: 'pdf',
  office: 'xlsx docx pptx',
  audio: 'mp3 wav ogg oga m4a flac aac opus',
  video: 'mp4 webm mov m4v ogv',
  text:
    'txt log py js mjs cjs ts tsx jsx go rs c h cc cpp hpp java kt swift rb php pl lua r sh bash zsh fish ps1 sql css scss less xml ' +
    'yaml yml toml ini cfg conf env properties tex bib srt vtt diff patch dockerfile makefile gitignore lock mod sum proto graphql ' +
    'vue svelte jsonl ndjson rst adoc org csl ics eml',
};
const kindOfEnding = new Map(
  Object.entries(kinds).flatMap(([kind, ends]) => ends.split(/\s+/).map((e) => [e, kind as Kind])),
);

/** What comes behind the last dot of a name, or the name itself where there is none. */
export const endingOf = (path: string): string => nameOf(path).toLowerCase().split('.').at(-1) ?? '';

export const kindOf = (path: string): Kind => kindOfEnding.get(endingOf(path)) ?? 'other';

/** Whether a file of the kind is read as text. */
export const isText = (kind: Kind): boolean => ['markdown', 'json', 'csv', 'html', 'text'].includes(kind);

/** The address of a file: to show it, or to save it. */
export function fileAt(thread: string, path: string, download = false): string {
  const route = fill('/threads/{thread_id}/artifacts/{path}', { thread_id: thread, path: whole(path).slice(1) });
  return at(route + (download ? '?download=true' : ''));
}

/** The address of all files as a ZIP. */
export const allAt = (thread: string): string => at(fill('/threads/{thread_id}/files.zip', { thread_id: thread }));

/** The address of an earlier version of a file. */
export function versionAt(thread: string, path: string, version: number): string {
  const route = fill('/threads/{thread_id}/file-versions/{version}/content', { thread_id: thread, version });
  return at(`${route}?path=${encodeURIComponent(whole(path))}`);
}

/** Most entries that are listed. */
export const mostListed = 2000;

/** The key of all that is known of the files of a task: it changes when one of them does. */
export const filesKey = (thread: string): string[] => ['files', thread];

/** Files and folders of a task, each folder before what is in it. */
export const useFiles = (thread: string) =>
  useQuery({
    queryKey: [...filesKey(thread), 'list'],
    queryFn: async ({ signal }) => {
      const path = { thread_id: thread };
      return (await api('get', '/threads/{thread_id}/files', { path, query: { limit: mostListed }, signal })) ?? [];
    },
    retry: false,
  });

/** A version of a file, the newest first. */
export type Version = NonNullable<Answer<'/threads/{thread_id}/file-versions', 'get'>['versions']>[number];

export const useVersions = (thread: string, path: string) =>
  useQuery({
    queryKey: [...filesKey(thread), 'versions', path],
    queryFn: async ({ signal }) => {
      const asked = { path: { thread_id: thread }, query: { path: whole(path) }, signal };
      const list = (await api('get', '/threads/{thread_id}/file-versions', asked)).versions ?? [];
      return list.filter((v) => !v.removed && v.available);
    },
    retry: false,
  });

/** How much of a text is shown, in bytes: of a table, whose rows are drawn as they are asked for, more. */
export const mostShown = (path: string): number => (kindOf(path) === 'csv' ? 2_000_000 : 250_000);

/** A text, or its beginning. */
export interface Text {
  text: string;
  /** It goes on. */
  cut: boolean;
  /** It is no text. */
  binary: boolean;
}

/** Reads a text at an address of the server. */
export async function textAt(address: string, most: number, signal?: AbortSignal): Promise<Text> {
  const response = await send(address.slice(at('').length), {
    headers: { Range: `bytes=0-${most - 1}` },
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (error instanceof Object && 'status' in error && error.status === 416) return null; // nothing is in it
    throw error;
  });
  if (!response) return { text: '', cut: false, binary: false };
  const bytes = new Uint8Array(await response.arrayBuffer());
  const size = Number(response.headers.get('Content-Range')?.split('/')[1] ?? bytes.length);
  return {
    text: new TextDecoder().decode(bytes),
    cut: size > bytes.length,
    binary: bytes.subarray(0, 8192).includes(0),
  };
}
