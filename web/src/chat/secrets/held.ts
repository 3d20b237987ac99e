// Values of secrets. They are held in the memory of this page alone, from when they are typed until the server has
// them: nothing here writes them anywhere, a reload loses them, and so does the end of the session that they were typed
// in.

/** Values by the names of the secrets. */
export type Secrets = Record<string, string>;

/** A secret that a skill declares. */
export interface Secret {
  name: string;
  optional?: boolean;
}

/** Those of the secrets that somebody has typed; undefined if it is none of them. */
export function given(values: Secrets, needs: Secret[]): Secrets | undefined {
  const typed = needs.flatMap(({ name }) => (values[name] ? [[name, values[name]] as const] : []));
  return typed.length > 0 ? Object.fromEntries(typed) : undefined;
}

/** The first one that is needed and has not been typed; empty if there is none. */
export const gapIn = (values: Secrets, needs: Secret[]): string =>
  needs.find((n) => !n.optional && !values[n.name])?.name ?? '';

const held = new Map<string, Secrets>();
const forms = new Set<() => void>();

/** Holds those of a message until it is delivered or taken back. */
export const hold = (message: string, secrets: Secrets): unknown => held.set(message, secrets);

/** Those of a message, if this page holds them. */
export const heldOf = (message: string): Secrets | undefined => held.get(message);

/** Those of a message are wanted no more. */
export const release = (message: string): unknown => held.delete(message);

/** Forgets all, also what stands in forms: nobody is signed in any more, and who signs in next may be another. */
export function forgetSecrets(): void {
  held.clear();
  for (const clear of forms) clear();
}

/** Has a form hear that it is to forget what it has; the function that comes back ends that. */
export function onForget(clear: () => void): () => void {
  forms.add(clear);
  return () => forms.delete(clear);
}
