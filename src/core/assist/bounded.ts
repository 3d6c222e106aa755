// What programs on the nodes wrote, as data for a language model: bounded, and with nothing in it
// that a person who reads along would not see.
import { visible } from '../base/visible.js';

/** Characters of one answer. */
const mostChars = 40_000;
const mostItems = 200;
const mostText = 2000;

/** Characters that show nothing: texts can be hidden in them. */
const unseen = /[\p{Cf}\p{Co}\u{e0000}-\u{e0fff}]/gu;

/** Characters that are not seen, or that move what is, as `\u{…}`. Newlines and tabs stay. */
export const seen = (text: string): string =>
  visible(text).replace(unseen, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * JSON of at most `most` characters. Long texts, lists and objects are cut, and say how much is
 * left out. The value has no cycles, and is at most a few levels deep.
 */
export function boundedJson(value: object, most = mostChars): string {
  let items = mostItems;
  let text = mostText;
  for (;;) {
    const json = JSON.stringify(cut(value, items, text));
    if (json.length <= most || (items === 1 && text === 1)) return json;
    items = Math.ceil(items / 2);
    text = Math.ceil(text / 2);
  }
}

function cut(value: unknown, items: number, text: number): unknown {
  if (typeof value === 'string') return cutText(value, text);
  if (Array.isArray(value)) {
    const kept: unknown[] = value.slice(0, items).map((each: unknown) => cut(each, items, text));
    return value.length > items ? [...kept, `… ${value.length - items} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, items)
    .map(([key, each]): [string, unknown] => [cutText(key, 200), cut(each, items, text)]);
  if (entries.length > items) kept.push(['…', `${entries.length - items} more`]);
  return Object.fromEntries(kept);
}

function cutText(text: string, most: number): string {
  const left = text.length - most;
  return left > 0 ? `${seen(text.slice(0, most))}… ${left} more characters` : seen(text);
}
