// The one client of the server's routes. Its types are made from openapi.json (scripts/web schema): a path, its
// parameters, the body and the answer are those of the route, or tsc says so.
import { at } from '../base';
import { takeEarly } from './early';
import type { paths } from './schema';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Route<P extends keyof paths, M extends Method> = paths[P][M];
type Parameters<R, Where extends string> = R extends { parameters: { [K in Where]?: infer V } } ? V : never;
type Body<R> = R extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
type Success<R> = R extends { responses: infer S } ? S[keyof S & (200 | 201 | 202)] : never;
/** What a route answers. */
export type Answer<P extends keyof paths, M extends Method> =
  Success<Route<P, M>> extends { content: { 'application/json': infer A } } ? A : unknown;

/** What a request is made of. */
export interface Asked<P extends keyof paths, M extends Method> {
  path?: Parameters<Route<P, M>, 'path'>;
  query?: Parameters<Route<P, M>, 'query'>;
  body?: Body<Route<P, M>>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** What kept a request from being answered: status 0 is no server at all. The message is the server's sentence. */
export class Trouble extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter = 0,
    /** What is wrong with members of the body, by their names. */
    readonly faults: Record<string, string> = {},
    /** What else the server says of it. */
    readonly detail?: unknown,
  ) {
    super(message);
  }
}

/** What listens for requests that need somebody to sign in. */
let signedOut: () => void = () => {};
export const onSignedOut = (listener: () => void): void => {
  signedOut = listener;
};

/** How often somebody has signed in on this page. */
let signIns = 0;
export const signInsNow = (): number => signIns;

/** Somebody has signed in: a request from before that was refused says nothing of now, and is made again. */
export const signedIn = (): void => void signIns++;

/** Whether a request is to be made again, which began after so many sign-ins; else 401 asks somebody to sign in. */
export function asksAgain(status: number, before: number): boolean {
  if (status !== 401) return false;
  if (before !== signIns) return true;
  signedOut();
  return false;
}

/** Sends a request and gives its response; what is no success is a Trouble. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  const early = takeEarly(path, init.method);
  const before = early ? 0 : signIns;
  try {
    response = await (early ?? fetch(at(path), { credentials: 'same-origin', ...init }));
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Trouble(0, 'The server cannot be reached.');
  }
  if (response.ok) return response;
  const trouble = await troubleOf(response); // somebody may sign in while it is read
  if (asksAgain(response.status, before)) return send(path, init);
  throw trouble;
}

/** Asks a route. */
export async function api<P extends keyof paths, M extends Method>(
  method: M,
  path: P,
  asked: Asked<P, M> = {},
): Promise<Answer<P, M>> {
  const headers: Record<string, string> = { Accept: 'application/json', ...asked.headers };
  if (asked.body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await send(fill(path, asked.path) + queryOf(asked.query), {
    method: method.toUpperCase(),
    headers,
    ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
    ...(asked.signal ? { signal: asked.signal } : {}),
  });
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer<P, M>;
}

/** Puts parameters into the places of a path. */
export function fill(path: string, values: unknown): string {
  const given = (values ?? {}) as Record<string, string>;
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'path' || name === 'rest'
      ? String(given[name]).split('/').map(encodeURIComponent).join('/')
      : encodeURIComponent(String(given[name])),
  );
}

/** Writes a query; a list becomes a parameter for each of its values. */
export function queryOf(values: unknown): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries((values ?? {}) as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') out.append(name, String(one));
    }
  }
  const text = out.toString();
  return text && `?${text}`;
}

async function troubleOf(response: Response): Promise<Trouble> {
  const text = await response.text().catch(() => '');
  const after = Number(response.headers.get('Retry-After')) || 0;
  return new Trouble(
    response.status,
    sentenceOf(text) || `The server answered ${response.status}.`,
    after,
    faultsOf(text),
    detailOf(text),
  );
}

/** The faults of members of a body, by their names: of each the first. */
export function faultsOf(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  try {
    const said = JSON.parse(text) as { detail?: ({ loc?: unknown[]; msg?: unknown } | null)[] };
    for (const fault of Array.isArray(said.detail) ? said.detail : []) {
      const name = fault?.loc?.[0] === 'body' ? fault.loc.at(-1) : undefined;
      if (typeof name === 'string' && typeof fault?.msg === 'string') out[name] ??= fault.msg;
    }
  } catch {
    // no JSON
  }
  return out;
}

interface Said {
  detail?: unknown;
  message?: unknown;
}

/** What the server says of an error; a proxy's page, which is no JSON, says nothing. */
function saidOf(text: string): Said {
  try {
    return (JSON.parse(text) as Said | null) ?? {};
  } catch {
    return {};
  }
}

const detailOf = (text: string): unknown => saidOf(text).detail;

/** The sentence in an error of the server: its detail, the message in that, or the one beside a list of faults. */
export function sentenceOf(text: string): string {
  const { message, detail } = saidOf(text);
  return [message, detail, (detail as Said | null | undefined)?.message].find((one) => typeof one === 'string') ?? '';
}
