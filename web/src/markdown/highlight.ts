// Colours for code. It comes when the first code does.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar);

/** A piece of code and its class; '' is plain. */
export type Piece = [look: string, text: string];

/** The classes of the design by what the highlighter finds. */
const looks: [RegExp, string][] = [
  [/^(keyword|literal|type|built_in|tag|name|selector|section|meta keyword|template-tag)/, 'hk'],
  [/^(string|regexp|char|link|code)/, 'hs'],
  [/^(number|symbol|bullet)/, 'hn'],
  [/^params/, ''],
  [/^(title|attr|property|variable\.language)/, 'hf'],
  [/^(comment|quote|meta|doctag)/, 'hc'],
  [/^addition/, 'plus'],
  [/^deletion/, 'minus'],
];

interface Node {
  scope?: string;
  children: (Node | string)[];
}

/** Code in pieces, or nothing for a language that is not known. */
export function pieces(code: string, language: string): Piece[] | null {
  if (!hljs.getLanguage(language)) return null;
  const { rootNode } = (
    hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as { _emitter: { rootNode: Node } }
  )._emitter;
  const out: Piece[] = [];
  const walk = (node: Node, look: string): void => {
    for (const child of node.children) {
      if (typeof child === 'string') out.push([look, child]);
      else walk(child, looks.find(([form]) => form.test(child.scope ?? ''))?.[1] ?? look);
    }
  };
  walk(rootNode, '');
  return out;
}
