// The panels that a task has.
export const kinds = ['run', 'files', 'changes'] as const;
export type Kind = (typeof kinds)[number];

/** The panel that the address asks for. */
export const panelOf = (query: URLSearchParams): Kind | undefined => kinds.find((k) => k === query.get('panel'));
