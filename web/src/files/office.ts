// What is written in the documents of an office: the sheets of a workbook, the text of a document, the slides of a
// presentation. How it is laid out is not read.
import type { Packed } from './zip';

/** Rows and columns of a sheet, and blocks of a document, that are read. */
const [mostRows, mostColumns, mostBlocks] = [2000, 100, 3000];

export interface Sheet {
  name: string;
  rows: string[][];
  /** There are more rows. */
  cut: boolean;
}

/** A part of a text: a heading of a depth, a paragraph, an item of a list, a table. */
export type Part =
  | { kind: 'heading'; depth: number; text: string }
  | { kind: 'text' | 'item'; pieces: { text: string; bold: boolean; italic: boolean }[] }
  | { kind: 'table'; rows: string[][] };

const parsed = (text: string | undefined): Document | undefined =>
  text === undefined ? undefined : new DOMParser().parseFromString(text, 'application/xml');
const all = (of: Document | Element | undefined, name: string): Element[] =>
  of ? [...of.getElementsByTagNameNS('*', name)] : [];
const attribute = (of: Element | undefined, name: string): string =>
  [...(of?.attributes ?? [])].find((a) => a.localName === name)?.value ?? '';
const textIn = (of: Element, name = 't'): string =>
  all(of, name)
    .map((t) => t.textContent ?? '')
    .join('');

/** The targets of a part's relations by their ids. */
async function relations(zip: Packed, part: string): Promise<Map<string, string>> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const doc = parsed(await zip.text(`${folder}_rels/${part.slice(folder.length)}.rels`));
  return new Map(
    all(doc, 'Relationship').map((r) => [
      attribute(r, 'Id'),
      new URL(attribute(r, 'Target'), `zip:///${folder}`).pathname.slice(1),
    ]),
  );
}

/** The sheets of a workbook. */
export async function sheetsOf(zip: Packed): Promise<Sheet[]> {
  const book = parsed(await zip.text('xl/workbook.xml'));
  const to = await relations(zip, 'xl/workbook.xml');
  const shared = all(parsed(await zip.text('xl/sharedStrings.xml')), 'si').map((si) =>
    all(si, 't')
      .filter((t) => t.parentElement?.localName !== 'rPh')
      .map((t) => t.textContent ?? '')
      .join(''),
  );
  const dates = datesIn(parsed(await zip.text('xl/styles.xml')));
  const out: Sheet[] = [];
  for (const sheet of all(book, 'sheet').slice(0, 50)) {
    const id = [...sheet.attributes].find((a) => a.localName === 'id')?.value ?? '';
    const doc = parsed(await zip.text(to.get(id) ?? ''));
    out.push({ name: sheet.getAttribute('name') ?? '', ...rowsIn(doc, shared, dates) });
  }
  return out;
}

function rowsIn(doc: Document | undefined, shared: string[], dates: Set<number>): { rows: string[][]; cut: boolean } {
  const list = all(doc, 'row');
  const rows = list.slice(0, mostRows).map((row) => {
    const cells: string[] = [];
    for (const cell of all(row, 'c')) {
      const at = columnOf(cell.getAttribute('r') ?? '') ?? cells.length;
      if (at >= mostColumns) break;
      while (cells.length < at) cells.push('');
      cells[at] = textOfCell(cell, shared, dates);
    }
    return cells;
  });
  return { rows, cut: list.length > mostRows };
}

/** The column of a reference such as AB12, from 0. */
export function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  return letters ? [...letters].reduce((n, c) => n * 26 + c.charCodeAt(0) - 64, 0) - 1 : undefined;
}

function textOfCell(cell: Element, shared: string[], dates: Set<number>): string {
  const raw = all(cell, 'v')[0]?.textContent ?? '';
  switch (cell.getAttribute('t')) {
    case 's':
      return shared[Number(raw)] ?? '';
    case 'inlineStr':
      return textIn(cell);
    case 'b':
      return raw === '1' ? 'TRUE' : 'FALSE';
    case 'str':
    case 'e':
      return raw;
    default:
      return dates.has(Number(cell.getAttribute('s') ?? -1)) && raw !== '' ? dateOf(Number(raw)) : rounded(raw);
  }
}

/** A number as people write it: what is stored has the last bits of a computation. */
const rounded = (raw: string): string => (/\.\d{9,}/.test(raw) ? String(Number(Number(raw).toPrecision(12))) : raw);

/** The styles that show numbers as dates. */
function datesIn(styles: Document | undefined): Set<number> {
  const own = new Set(
    all(styles, 'numFmt')
      .filter((f) => /[ymdhs]/i.test((f.getAttribute('formatCode') ?? '').replace(/"[^"]*"|\[[^\]]*\]|\\./g, '')))
      .map((f) => Number(f.getAttribute('numFmtId'))),
  );
  const out = new Set<number>();
  all(all(styles, 'cellXfs')[0], 'xf').forEach((xf, i) => {
    const format = Number(xf.getAttribute('numFmtId'));
    if (own.has(format) || (format >= 14 && format <= 22) || (format >= 45 && format <= 47)) out.add(i);
  });
  return out;
}

/** A day of a workbook, whose days are counted from the end of 1899, with its time where it has one. */
export function dateOf(serial: number): string {
  const time = new Date(Math.round((serial - 25_569) * 86_400) * 1000);
  if (Number.isNaN(time.getTime())) return String(serial);
  const stamp = time.toISOString();
  if (serial < 1) return stamp.slice(11, 16);
  return serial % 1 === 0 ? stamp.slice(0, 10) : `${stamp.slice(0, 10)} ${stamp.slice(11, 16)}`;
}

/** The text of a document. */
export async function partsOf(zip: Packed): Promise<Part[]> {
  const body = all(parsed(await zip.text('word/document.xml')), 'body')[0];
  const out: Part[] = [];
  for (const it of [...(body?.children ?? [])].slice(0, mostBlocks)) {
    if (it.localName === 'tbl')
      out.push({
        kind: 'table',
        rows: all(it, 'tr').map((tr) =>
          all(tr, 'tc').map((tc) =>
            all(tc, 'p')
              .map((p) => textIn(p))
              .join(' '),
          ),
        ),
      });
    else if (it.localName === 'p') out.push(...paragraph(it));
  }
  return out;
}

function paragraph(p: Element): Part[] {
  const text = textIn(p);
  if (text.trim() === '') return [];
  const style = attribute(all(p, 'pStyle')[0], 'val');
  const depth = /^(?:heading|berschrift|标题)\s*([1-6])$/i.exec(style)?.[1] ?? (/^title$/i.test(style) ? '1' : '');
  if (depth) return [{ kind: 'heading', depth: Number(depth), text }];
  const pieces = all(p, 'r').map((r) => ({
    text:
      all(r, 't')
        .map((t) => t.textContent ?? '')
        .join('') || (all(r, 'br').length > 0 ? '\n' : ''),
    bold: isOn(r, 'b'),
    italic: isOn(r, 'i'),
  }));
  return [{ kind: all(p, 'numPr').length > 0 || /^list/i.test(style) ? 'item' : 'text', pieces }];
}

const isOn = (r: Element, name: string): boolean => {
  const mark = [...(all(r, 'rPr')[0]?.children ?? [])].find((c) => c.localName === name);
  return !!mark && !['0', 'false'].includes(attribute(mark, 'val'));
};

/** The text of each slide, its lines in order. */
export async function slidesOf(zip: Packed): Promise<string[][]> {
  const show = 'ppt/presentation.xml';
  const to = await relations(zip, show);
  const out: string[][] = [];
  for (const id of all(parsed(await zip.text(show)), 'sldId').slice(0, 500)) {
    const relation = [...id.attributes].find((a) => a.localName === 'id' && a.prefix)?.value ?? '';
    const slide = parsed(await zip.text(to.get(relation) ?? ''));
    out.push(
      all(slide, 'p')
        .map((p) => textIn(p))
        .filter((line) => line.trim() !== ''),
    );
  }
  return out;
}
