// A piece of what was found, with what was looked for marked. It is text, whatever it has.
import type { ReactNode } from 'react';
import type { Hit } from './found';

export function Excerpt({ of }: { of: Hit['excerpt'] }): ReactNode {
  return (of ?? []).map((part, i) => (part.marked ? <mark key={i}>{part.text}</mark> : part.text));
}
