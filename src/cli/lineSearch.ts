// A regular expression that somebody typed, and the lines that it is found in.
import { UserError } from '../core/base/errors.js';

/** Whether it is found in a line. UserError (usage) that says what is wrong with the expression. */
export function lineSearch(pattern: string, ignoreCase: boolean): (line: string) => boolean {
  try {
    const expression = new RegExp(pattern, ignoreCase ? 'i' : '');
    return (line) => expression.test(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const why = error.message.split(': ').at(-1) ?? '';
    throw new UserError(
      'usage',
      `--grep ${pattern} is no regular expression: ${why.charAt(0).toLowerCase()}${why.slice(1)}`,
      'A backslash before a character of [](){}*+?.^$|\\ stands for that character itself',
    );
  }
}
