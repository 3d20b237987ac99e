// The plan of a task: what the last call that made or changed it says.
import type { Talk } from './talk';

export interface Todo {
  content: string;
  status: string;
}

/** The plan, if there is one. */
export function planOf(talk: Talk): Todo[] | null {
  const failed = new Set(talk.rows.filter((r) => r.message.status === 'error').map((r) => r.message.tool_call_id));
  for (let i = talk.rows.length - 1; i >= 0; i--) {
    const calls = talk.rows[i]?.message.tool_calls ?? [];
    for (const call of [...calls].reverse()) {
      const { todos } = call.args;
      if (call.name === 'write_todos' && !failed.has(call.id) && Array.isArray(todos) && todos.length > 0)
        return todos as Todo[];
    }
  }
  return null;
}
