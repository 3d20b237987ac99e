// What a page and its frame for diagrams say to each other.

/** A diagram that is to be drawn, and its colours. */
export interface Asked {
  id: number;
  text: string;
  look: Record<string, string | boolean>;
}

/** The image, or what is wrong with the diagram. */
export type Drawn = { id: number; svg: string; width: number; height: number } | { id: number; trouble: string };

/** What is larger is not drawn: characters, edges, milliseconds. */
export const bounds = { text: 20_000, edges: 300, millis: 10_000 };
