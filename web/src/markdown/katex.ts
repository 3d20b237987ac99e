// Formulas, drawn by KaTeX. It comes when the first formula does.
import katex from 'katex';
import 'katex/dist/katex.min.css';

/**
 * The faces that most formulas have: they are there before the first is drawn, so that nothing moves when they come.
 */
export const faces = (): Promise<unknown> =>
  Promise.allSettled(
    ['1em KaTeX_Main', 'italic 1em KaTeX_Math', '1em KaTeX_Size1', '1em KaTeX_Size2'].map((face) =>
      document.fonts.load(face),
    ),
  );

/** Draws a formula into an element, or says that it cannot. Nothing in it loads, links, or grows without end. */
export function draw(into: HTMLElement, formula: string, display: boolean): boolean {
  try {
    katex.render(formula, into, {
      displayMode: display,
      throwOnError: true,
      strict: 'ignore',
      trust: false,
      maxExpand: 200,
      maxSize: 20,
    });
    return true;
  } catch {
    return false;
  }
}
