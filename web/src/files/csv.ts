// Tables in text: values that a comma, a semicolon or a tab divides, in quotes where they need them.

/** The rows of a table, at most so many. */
export function rowsOf(text: string, most: number): string[][] {
  const mark = dividerOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let value = '';
  let quoted = false;
  const ends = (): void => {
    row.push(value);
    value = '';
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length && rows.length < most; i++) {
    const c = text[i] as string;
    if (quoted) {
      if (c !== '"') value += c;
      else if (text[i + 1] === '"') value += text[++i];
      else quoted = false;
    } else if (c === '"' && value === '') quoted = true;
    else if (c === mark) {
      row.push(value);
      value = '';
    } else if (c === '\n') ends();
    else if (c !== '\r' || text[i + 1] !== '\n') value += c;
  }
  if (rows.length < most && (value !== '' || row.length > 0)) ends();
  return rows;
}

/** What divides the values: of the usual marks the one that the first line has most often. */
function dividerOf(text: string): string {
  const line = text.slice(0, text.indexOf('\n') + 1 || text.length).replace(/"[^"]*"/g, '');
  const count = (mark: string): number => line.split(mark).length;
  return [',', ';', '\t', '|'].reduce((a, b) => (count(b) > count(a) ? b : a));
}

const number = /^[-−+]?[€$£¥]?\s?\d[\d.,\u00a0 ]*\s?(%|[a-zA-Z€$£¥]{0,3})$/;

/** Which columns have nothing but numbers below their heads: they stand right. */
export function numeric(rows: string[][]): boolean[] {
  const [head = [], ...rest] = rows;
  const some = rest.slice(0, 200);
  return head.map((_, i) => some.some((r) => r[i]) && some.every((r) => !r[i] || number.test(r[i] ?? '')));
}
