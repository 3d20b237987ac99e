// Where the server's paths begin: it may stand below any path of an address, and no page knows how deep it lies itself.
// What is built lies in the folder assets below it.
const here = import.meta.url;

/** The path of the server, with a slash at its end. */
export const base = import.meta.env.DEV ? '/' : new URL('..', here).pathname;

/** The address of a path of the server. */
export const at = (path: string): string => base + path.replace(/^\//, '');
