// The sign. Its ear moves while Pudu works.
import type { ReactNode } from 'react';

export function Mark({ live = false, size }: { live?: boolean; size?: number }): ReactNode {
  return (
    <svg
      className={live ? 'mark live' : 'mark'}
      viewBox="0 0 24 24"
      aria-hidden="true"
      {...(size ? { style: { width: size, height: size } } : {})}
    >
      <path className="ear" d="M7.65 10.17C3.99 11.99 0.34 9.16 1.11 4.88C4.94 3.54 8.25 6.48 7.65 10.17z" />
      <path d="M16.35 10.17C20.01 11.99 23.66 9.16 22.89 4.88C19.06 3.54 15.75 6.48 16.35 10.17z" />
      <path d="M9.5 2.6c1.1 1.3 1.7 3 1.8 5.9H8.9c-.4-2.1-.1-4.2.6-5.9zM14.5 2.6c-1.1 1.3-1.7 3-1.8 5.9h2.4c.4-2.1.1-4.2-.6-5.9z" />
      <path d="M12 8.1c3.9 0 6.5 2 6.5 5.1 0 4.4-2.8 9.1-6.5 9.1s-6.5-4.7-6.5-9.1c0-3.1 2.6-5.1 6.5-5.1z" />
      <path
        className="nose"
        d="M10.3 18.1h3.4c.7 0 1 .7.6 1.2l-1.45 1.6c-.45.5-1.25.5-1.7 0l-1.45-1.6c-.4-.5-.1-1.2.6-1.2z"
      />
    </svg>
  );
}
