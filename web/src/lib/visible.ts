// Text that somebody has to judge, such as a command: characters that cannot be seen, or that turn the order of others
// round, are shown by their numbers.

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** The text with everything hidden in it. */
export const visible = (text: string): string =>
  text.replace(hidden, (c) => `\\u{${c.codePointAt(0)?.toString(16) ?? ''}}`);
