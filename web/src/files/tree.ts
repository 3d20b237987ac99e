// The list of files as a tree.
import { type Entry, nameOf, short } from './data';

/** A file or folder in its place. */
export interface Node {
  entry: Entry;
  path: string;
  name: string;
  depth: number;
  inside: Node[];
}

/** The trees of a list, in which each folder stands before what is in it. Folders without files are left out. */
export function treeOf(list: Entry[]): Node[] {
  const roots: Node[] = [];
  const folders = new Map<string, Node>();
  for (const entry of list) {
    const path = short(entry.path);
    const parent = folders.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    const node: Node = { entry, path, name: nameOf(path), depth: parent ? parent.depth + 1 : 0, inside: [] };
    if (entry.kind === 'folder') folders.set(path, node);
    (parent?.inside ?? roots).push(node);
  }
  return sorted(roots.filter(holds));
}

/** Whether a node is a file, or has one somewhere in it. */
function holds(node: Node): boolean {
  if (node.entry.kind !== 'folder') return true;
  node.inside = node.inside.filter(holds);
  return node.inside.length > 0;
}

const first = ['outputs', 'uploads', 'workspace'];

/**
 * What was made for the user comes first, then what the user brought, then the workspace; below them, folders before
 * files.
 */
function sorted(nodes: Node[]): Node[] {
  const place = (n: Node): number =>
    n.depth === 0 && first.includes(n.name) ? first.indexOf(n.name) - 9 : n.entry.kind === 'folder' ? 0 : 1;
  for (const n of nodes) n.inside = sorted(n.inside);
  return nodes.sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name, undefined, { numeric: true }));
}

/** The lines of a tree whose folders are open, but for some that are shut. */
export function linesOf(nodes: Node[], shut: ReadonlySet<string>): Node[] {
  return nodes.flatMap((n) => [n, ...(n.entry.kind === 'folder' && !shut.has(n.path) ? linesOf(n.inside, shut) : [])]);
}

/** What changed last, of files that a person wants to see: the outputs before the rest. */
export function newestOf(list: Entry[]): Entry | undefined {
  const files = list.filter((e) => e.kind === 'file');
  const outputs = files.filter((e) => short(e.path).startsWith('outputs/'));
  return (outputs.length > 0 ? outputs : files).reduce<Entry | undefined>(
    (a, b) => (a && a.modified_at >= b.modified_at ? a : b),
    undefined,
  );
}
