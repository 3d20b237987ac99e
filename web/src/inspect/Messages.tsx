// Messages as a list of lines that open: who said it, how it begins, how long it is; all of it when it is asked for.
import { type ReactNode, useState } from 'react';
import { sized, useWords } from '../lib/i18n';
import { isHidden, type Message, textOf, thoughtOf } from '../chat/talk/message';
import { inspect } from './words';

interface ListProps {
  messages: Message[];
  /** Messages from here on are new. */
  fresh?: number;
  /** Lines before the messages. */
  before?: ReactNode;
  /** Shows what people see: without what was put before their words. */
  own?: boolean;
}

/** How many of a long list stand at once. */
const stands = 100;

export function MessageList({ messages, fresh = Infinity, before, own = false }: ListProps): ReactNode {
  const w = useWords(inspect);
  const [all, setAll] = useState(false);
  const from = all ? 0 : Math.max(0, messages.length - stands);
  return (
    <div className="sentlist">
      {before}
      {from > 0 && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          {w.earlierMessages(from)}
        </button>
      )}
      {messages.slice(from).map((m, i) => (
        <Entry
          key={`${m.id}-${from + i}`}
          who={whoOf(m, w)}
          text={own ? textOf(m) : wholeText(m)}
          isNew={from + i >= fresh}
        >
          <Content message={m} own={own} />
        </Entry>
      ))}
    </div>
  );
}

function whoOf(m: Message, w: { human: string; ai: string; system: string; added: string }): string {
  if (m.type === 'human' && isHidden(m)) return w.added;
  if (m.type === 'tool') return m.name ?? 'tool';
  return { human: w.human, ai: w.ai, system: w.system }[m.type] ?? m.type;
}

/** The text of a message as the model has it, with the calls that it makes. */
export function wholeText(m: Message): string {
  const text =
    typeof m.content === 'string'
      ? m.content
      : m.content.map((p) => (typeof p === 'string' ? p : (p.text ?? `[${p.type ?? '?'}]`))).join('\n');
  const calls = (m.tool_calls ?? []).map((c) => `${c.name} ${JSON.stringify(c.args)}`);
  return [text, ...calls].filter(Boolean).join('\n');
}

interface EntryProps {
  who: string;
  text: string;
  isNew?: boolean;
  children: ReactNode;
}

export function Entry({ who, text, isNew = false, children }: EntryProps): ReactNode {
  const w = useWords(inspect);
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span className="who cut">{who}</span>
        <span className="cut">{text.trim().slice(0, 200)}</span>
        <span className="meta">
          {isNew && <span className="tag">{w.isNew}</span>}
          {sized(text.length)}
        </span>
      </summary>
      {open && children}
    </details>
  );
}

/** How much of a text is drawn. */
const drawn = 100_000;

function Content({ message, own }: { message: Message; own: boolean }): ReactNode {
  const w = useWords(inspect);
  const thought = thoughtOf(message);
  const text = own ? textOf(message) : wholeText({ ...message, tool_calls: [] });
  return (
    <>
      {thought && (
        <pre tabIndex={0} className="soft">
          {w.thought}: {thought}
        </pre>
      )}
      {text && <Text text={text} />}
      {(message.tool_calls ?? []).map((c) => (
        <Text key={c.id} text={`${c.name} ${JSON.stringify(c.args, null, 2)}`} />
      ))}
    </>
  );
}

export const Text = ({ text }: { text: string }): ReactNode => (
  <pre tabIndex={0}>
    {text.slice(0, drawn)}
    {text.length > drawn && '…'}
  </pre>
);
