// What a task is made of is on its way before its scripts are: the script within index.html has asked. Who asks for it
// then gets that answer.
declare global {
  /** The answers on their way, by the paths that they were asked for with. */
  var early: Map<string, Promise<Response>> | undefined;
}

/** How long after the page was asked for an answer counts as new, in milliseconds. */
const fresh = 15_000;

/** The answer that is on its way already; each is taken once. */
export function takeEarly(path: string, method = 'GET'): Promise<Response> | undefined {
  const all = globalThis.early;
  const it = method === 'GET' ? all?.get(path) : undefined;
  if (!it) return undefined;
  all?.delete(path);
  return performance.now() < fresh ? it : undefined;
}
