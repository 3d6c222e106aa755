// The table that `trainer predict` writes: CSV, a line for each image, and more of them than fit
// into memory.
import { createReadStream } from 'node:fs';
import { errorText, UserError } from '../base/errors.js';
import { MistakeCount, type Mistakes } from './mistakes.js';

/** A line of the table. `class` is the likeliest one, `probability` from 0 to 1. */
export interface TableRow {
  path: string;
  class: string;
  probability: number;
}

const header = 'path,class,probability,top5';
/** Some programs begin a file of text with it. */
const byteOrderMark = '\ufeff';
/** Characters. Logits of 100,000 classes are less. */
const longestLine = 16 * 1024 * 1024;

/**
 * Gives `take` the rows of a table whose text is read in chunks. Errors call the table `name`.
 * UserError (usage) where it is no such table, or a line of it is damaged.
 */
export async function readPredictionTable(
  chunks: AsyncIterable<string>,
  name: string,
  take: (row: TableRow) => void,
): Promise<void> {
  const split = new Records(name);
  let lines = 0;
  /** The first empty line. Nothing but empty ones may follow it. */
  let empty: string | undefined;
  const read = (record: string): void => {
    const row = `image ${lines} of ${name}`;
    if (lines++ === 0) assertHead(record.startsWith(byteOrderMark) ? record.slice(1) : record, name);
    else if (record === '') empty ??= row;
    else if (empty !== undefined) throw damaged(empty, 'path');
    else take(rowOf(record, row));
  };
  for await (const chunk of chunks) split.push(chunk).forEach(read);
  split.end().forEach(read);
  if (lines === 0) throw new UserError('usage', `${name} is empty`, 'Write the table anew');
}

/**
 * What a model gets wrong by a table that is a file of this machine. UserError (usage) where it is
 * none or of another model, or no image of it lies in a folder that is named after one of the
 * classes.
 */
export async function mistakesOfTable(file: string, classNames: readonly string[]): Promise<Mistakes> {
  const count = new MistakeCount(classNames);
  await readPredictionTable(textOf(file), file, (row) => {
    if (!count.knows(row.class)) {
      const what = `${file} is of another model: this one has no class ${row.class}`;
      throw new UserError('usage', what, 'Name a table of this model');
    }
    count.add(row.path, row.class, row.probability);
  });
  if (count.result) return count.result;
  const what = `no image of ${file} lies in a folder that is named after a class of the model`;
  throw new UserError('usage', what, 'Predict on a folder of class folders');
}

async function* textOf(file: string): AsyncGenerator<string> {
  const stream = createReadStream(file, { encoding: 'utf8', highWaterMark: 1024 * 1024 });
  try {
    for await (const chunk of stream) yield String(chunk);
  } catch (error) {
    throw new UserError('usage', errorText(error), 'Name a table that can be read', { cause: error });
  }
}

function assertHead(record: string, name: string): void {
  if (record === header || record.startsWith(`${header},`)) return;
  const hint = `Name one that begins with ${header}`;
  throw new UserError('usage', `${name} is no table of predictions`, hint);
}

function rowOf(record: string, name: string): TableRow {
  const [path = '', label = '', text = ''] = firstFields(record, 3);
  const probability = text.trim() === '' ? NaN : Number(text);
  if (path === '') throw damaged(name, 'path');
  if (label === '') throw damaged(name, 'class');
  if (!(probability >= 0 && probability <= 1)) throw damaged(name, 'probability');
  return { path, class: label, probability };
}

const damaged = (name: string, field: string): UserError =>
  new UserError('usage', `${name} has no ${field}`, 'Write the table anew');

/** Lines of a table, where a line break between quotes ends none. */
class Records {
  private rest = '';
  /** Lines of a record whose quotes are not closed yet. */
  private open = '';

  constructor(private readonly name: string) {}

  push(chunk: string): string[] {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    const whole = lines.flatMap((line) => this.add(line) ?? []);
    if (this.rest.length + this.open.length <= longestLine) return whole;
    throw new UserError('usage', `${this.name} has a line without end`, 'Name a table of predictions');
  }

  /** What stands after the last line break. */
  end(): string[] {
    const last = this.rest === '' && this.open === '' ? undefined : this.add(this.rest);
    if (this.open === '') return last === undefined ? [] : [last];
    throw new UserError('usage', `${this.name} ends between quotes`, 'Write the table anew');
  }

  private add(line: string): string | undefined {
    const record = this.open + line;
    this.open = isOpen(line) === (this.open === '') ? `${record}\n` : '';
    if (this.open !== '') return undefined;
    return record.endsWith('\r') ? record.slice(0, -1) : record;
  }
}

/** Of a line that begins outside of quotes: whether it ends between them. */
const isOpen = (line: string): boolean => quoteCount(line) % 2 === 1;

function quoteCount(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count;
}

/** The first fields of a line; logits may follow, and are not looked at. */
function firstFields(line: string, most: number): string[] {
  const fields: string[] = [];
  for (let at = 0; fields.length < most && at <= line.length;) {
    if (line[at] !== '"') {
      const comma = line.indexOf(',', at);
      const end = comma < 0 ? line.length : comma;
      fields.push(line.slice(at, end));
      at = end + 1;
      continue;
    }
    let end = line.indexOf('"', at + 1);
    while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
    if (end < 0) return fields;
    fields.push(line.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return fields;
}
