// Messages as the server has them, and what is read from them.

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

type Part = string | { type?: string; text?: string; [name: string]: unknown };

export interface Message {
  id: string;
  type: string;
  content: string | Part[];
  name?: string | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  status?: string;
  artifact?: unknown;
  additional_kwargs?: Record<string, unknown>;
  usage_metadata?: Record<string, unknown> | null;
}

/** Which version of a message a row is, of how many. */
export interface Versions {
  index: number;
  total: number;
  message_ids: string[];
}

/** A message in its place in a conversation. */
export interface Row {
  message: Message;
  run: string;
  at: number;
  versions?: Versions;
  /** It is still being written, or still on its way to the server. */
  open?: boolean;
}

/** The text of a message, without what the server put before the user's own words. */
export function textOf(m: Message): string {
  const own = m.additional_kwargs?.['original_user_content'];
  if (m.type === 'human' && typeof own === 'string') return own;
  if (typeof m.content === 'string') return m.content;
  return m.content.map((p) => (typeof p === 'string' ? p : (p.text ?? ''))).join('');
}

/** What a model thought before it said the message. */
export function thoughtOf(m: Message): string {
  const said = m.additional_kwargs?.['reasoning_content'];
  return typeof said === 'string' ? said : '';
}

/** Whether a message is for the model alone. */
export function isHidden(m: Message): boolean {
  return m.type === 'system' || m.additional_kwargs?.['hide_from_ui'] === true || m.id.startsWith('do-not-render-');
}
