// The records of a .wandb file that an export writes, and reads back. The numbers of fields are those
// of https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto
import { fieldsOf, Message, type Field } from './protobuf.js';

/** The kinds of a record that matter here, by their field of `Record`. */
const kinds = {
  history: 2,
  summary: 3,
  config: 5,
  metric: 12,
  run: 17,
  exit: 18,
  header: 21,
} as const;
/** One kind. */
export type Kind = keyof typeof kinds;

/** A record without its number in the file. */
export interface WandbRecord {
  kind: Kind;
  body: Buffer;
}

/** What the reader of a file must be at least, as W&B's own writer says it. */
const oldestReader = '0.70.0';
/** `value_json` of items of history, summary and config. */
const valueJson = 16;
/** `nested_key` of them: each part of a name that has several. */
const nestedKey = 2;

const of = (kind: Kind, message: Message): WandbRecord => ({ kind, body: message.encoded() });

/** The bytes of a record, which is the file's `number`th, from 1. */
export const encodedRecord = ({ kind, body }: WandbRecord, number: number): Buffer =>
  new Message().whole(1, number).bytes(kinds[kind], body).encoded();

/** What is of a kind that matters here. */
export function decodedRecord(data: Buffer): WandbRecord | undefined {
  const fields = fieldsOf(data) ?? [];
  for (const kind of Object.keys(kinds) as Kind[]) {
    const found = fields.find(({ field }) => field === kinds[kind]);
    if (found) return { kind, body: found.bytes };
  }
  return undefined;
}

/** The first one of a file: who wrote it. */
export function headerRecord(): WandbRecord {
  return of('header', new Message().message(1, new Message().text(1, 'trainyard').text(2, oldestReader)));
}

/** What a run is called. `started` is in milliseconds since the epoch. */
export interface RunNames {
  id: string;
  entity: string;
  project: string;
  name: string;
  notes: string;
  tags: readonly string[];
  started: number;
}

/** The last one counts. */
export function runRecord(names: RunNames): WandbRecord {
  const message = new Message().text(1, names.id).text(2, names.entity).text(3, names.project);
  message.text(8, names.name).text(9, names.notes);
  for (const tag of names.tags) message.text(10, tag);
  const start = new Message()
    .whole(1, Math.floor(names.started / 1000))
    .whole(2, (names.started % 1000) * 1_000_000);
  return of('run', message.message(17, start));
}

/** What the run was asked to do. */
export function configRecord(settings: Readonly<Record<string, string>>): WandbRecord {
  const message = new Message();
  for (const [name, value] of Object.entries(settings)) message.message(1, item([name], value));
  return of('config', message);
}

/** Names whose parts are given one by one. */
export function summaryRecord(values: readonly (readonly [string[], string | number])[]): WandbRecord {
  const message = new Message();
  for (const [name, value] of values) message.message(1, item(name, value));
  return of('summary', message);
}

/** Over which other value a curve is drawn. */
export function metricRecord(name: string, axis: string): WandbRecord {
  const options = new Message().flag(3, true);
  return of('metric', new Message().text(1, name).text(4, axis).message(6, options));
}

/** Values that were logged together; `index` counts these rows from 0. */
export function historyRecord(index: number, values: readonly (readonly [string, number])[]): WandbRecord {
  const message = new Message();
  for (const [name, value] of values) message.message(1, item([name], value));
  return of('history', message.message(2, new Message().whole(1, index)));
}

/** `seconds`: how long the run took. */
export function exitRecord(code: number, seconds: number): WandbRecord {
  return of('exit', new Message().whole(1, code).whole(2, seconds));
}

const item = (name: readonly string[], value: string | number): Message => {
  const message = new Message();
  for (const part of name) message.bytes(nestedKey, Buffer.from(part));
  return message.text(valueJson, JSON.stringify(value));
};

/** The values of a history record. */
export function historyValues(body: Buffer): Map<string, number> {
  const values = new Map<string, number>();
  for (const { field, bytes } of fieldsOf(body) ?? []) {
    if (field !== 1) continue;
    const parts = fieldsOf(bytes) ?? [];
    values.set(textOf(parts, nestedKey), Number(textOf(parts, valueJson)));
  }
  return values;
}

/** The name that a metric record has. */
export const metricName = (body: Buffer): string => textOf(fieldsOf(body) ?? [], 1);

const textOf = (fields: readonly Field[], field: number): string =>
  fields.find((one) => one.field === field)?.bytes.toString() ?? '';
