// A command line as one text, and back: blanks separate words, quotes keep them together, nothing
// else is special.
import { UserError } from '../../base/errors.js';

/** UserError (usage) for a quote that does not end. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else if (character === '\\' && quote === '"' && /["\\]/.test(text[index + 1] ?? '')) {
        word = (word ?? '') + (text[++index] ?? '');
      } else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === '\\' && index + 1 < text.length) word = (word ?? '') + (text[++index] ?? '');
    else word = (word ?? '') + character;
  }
  if (quote !== undefined) {
    throw new UserError('usage', `the command line has a ${quote} that does not end`, 'Close it');
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** What `splitWords` takes apart into the same words again. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:=@%+,~-]+$/.test(word) ? word : quoted(word))).join(' ');
}

const quoted = (word: string): string => `"${word.replace(/["\\]/g, (character) => `\\${character}`)}"`;
