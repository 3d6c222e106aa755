// The lines of a requirements file of pip, with those of the files that it includes in their place.
import { dirname, resolve } from 'node:path';
import { UserError } from '../base/errors.js';
import { assertForNodes } from './lines.js';
import { mostBytes, textOf } from './text.js';

const mostFiles = 20;
const included = /^(?:-r|--requirement)(?:\s+|=)?(.+)$/;
const constrained = /^(?:-c|--constraint)(?:\s+|=)?(.+)$/;

/** UserError (usage) for a file that cannot be read, or names one that cannot. */
export async function pipLines(file: string): Promise<{ lines: string[]; constraints: string[] }> {
  const reading = new Reading();
  const lines = await reading.linesOf(file, []);
  return { lines, constraints: reading.constraints };
}

class Reading {
  readonly constraints: string[] = [];
  private files = 0;

  /** The lines of a file, with those of the files that it includes in their place. */
  async linesOf(file: string, above: readonly string[]): Promise<string[]> {
    if (above.includes(file)) {
      throw new UserError('usage', `${file} includes itself`, 'Take that line out');
    }
    this.files += 1;
    if (this.files > mostFiles) {
      throw new UserError('usage', `${above[0] ?? file} includes more than ${mostFiles} files`, 'Join some');
    }
    const lines: string[] = [];
    for (const line of logicalLines(await textOf(file, mostBytes))) {
      const inclusion = included.exec(line)?.[1];
      const constraint = constrained.exec(line)?.[1];
      const named = inclusion ?? constraint ?? '';
      if (/^https?:/.test(named.trim())) {
        const what = `${file}: "${line}" is an address, and addresses of requirements are not followed`;
        throw new UserError('usage', what, 'Download it, and name the file');
      }
      if (inclusion !== undefined) {
        lines.push(...(await this.linesOf(besides(file, inclusion), [...above, file])));
      } else if (constraint !== undefined) {
        this.constraints.push(...(await this.linesOf(besides(file, constraint), [...above, file])));
      } else {
        assertForNodes(line, file);
        lines.push(line);
      }
    }
    return lines;
  }
}

const besides = (file: string, name: string): string =>
  resolve(dirname(file), name.trim().replace(/^(["'])(.*)\1$/, '$2'));

/**
 * Without comments and empty lines; a line that ends with a backslash goes on in the next one, but
 * for a comment. Options that stand on one line are lines of their own.
 */
export function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let begun = '';
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const isComment = /^\s*#/.test(line);
    if (!isComment && line.endsWith('\\')) {
      begun += `${line.slice(0, -1)} `;
      continue;
    }
    lines.push(begun + (isComment ? '' : line));
    begun = '';
  }
  return [...lines, begun]
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .flatMap((line) => (line.startsWith('-') ? line.split(/\s+(?=--?[a-z])/) : [line]))
    .filter((line) => line !== '');
}
