// Text of others, made safe to show: nothing in it moves a cursor, changes a title or turns the
// direction of writing.

const hidden = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Control characters as `\xNN` or `\uNNNN`; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(hidden, (character) => {
    const code = character.charCodeAt(0);
    const [prefix, digits] = code < 0x100 ? (['\\x', 2] as const) : (['\\u', 4] as const);
    return `${prefix}${code.toString(16).padStart(digits, '0')}`;
  });
}
