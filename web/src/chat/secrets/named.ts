// The skill that a message asks for: the rule of the server (skills.Named).
const commands = ['bootstrap', 'goal', 'help', 'memory', 'models', 'new', 'status', 'compact'];

/** The skill that a text names with a slash at its start; empty without one. Some names are those of commands. */
export function namedSkill(text: string): string {
  const name = /^\/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s|$)/.exec(text.trim())?.[1] ?? '';
  return commands.includes(name) ? '' : name;
}
