// The file of W&B: frames at every place of a block, records that are read back, and what a cut-off
// file still has. What W&B itself reads of it is in test/trackers.
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fieldsOf, Message } from '../../../../src/core/export/wandb/protobuf.js';
import {
  decodedRecord,
  encodedRecord,
  exitRecord,
  historyRecord,
  historyValues,
} from '../../../../src/core/export/wandb/records.js';
import { RunFolder } from '../../../../src/core/export/wandb/runFolder.js';
import {
  fileStart,
  framed,
  recordsOf,
  type FramedRecord,
} from '../../../../src/core/export/wandb/transactionLog.js';
import { temporaryFolder } from '../../../support/harness.js';

const folder = temporaryFolder('wandb');
afterAll(() => {
  folder.remove();
});

/** By hand, since comparing bytes one by one takes seconds. */
const same = (found: readonly FramedRecord[] | undefined, records: readonly Buffer[]): boolean =>
  found?.length === records.length && records.every((one, index) => found[index]?.data.equals(one));

it('records of every length around the end of a block are read back, and no part of one', () => {
  for (let first = 32_740; first < 32_775; first++) {
    const records = [first, 1, 70_000, 5].map((length, index) => Buffer.alloc(length, index + 1));
    let file = fileStart;
    for (const record of records) file = Buffer.concat([file, framed(record, file.length)]);
    expect(same(recordsOf(file), records)).toBe(true);
    expect(same(recordsOf(file.subarray(0, -1)), records.slice(0, 3))).toBe(true);
    const damaged = Buffer.from(file);
    damaged[20] = 9;
    expect(recordsOf(damaged)).toEqual([]);
  }
  expect(recordsOf(Buffer.from('another kind of file'))).toBeUndefined();
});

it('numbers of every size, and bytes that are no message', () => {
  for (const value of [1, 127, 128, 300, 2 ** 31, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER]) {
    expect(fieldsOf(new Message().whole(200, value).encoded())?.[0]).toMatchObject({
      field: 200,
      whole: value,
    });
  }
  expect(new Message().whole(1, 300).encoded()).toEqual(Buffer.from([0x08, 0xac, 0x02]));
  expect(fieldsOf(Buffer.from([0x0a, 5, 1]))).toBeUndefined();
  expect(fieldsOf(Buffer.from([0x08, 0x80]))).toBeUndefined();
});

it('a row of values', () => {
  const row = historyRecord(7, [
    ['trainyard/step', 40],
    ['train/loss', 0.1 + 0.2],
  ]);
  const read = decodedRecord(encodedRecord(row, 3));
  expect(read?.kind).toBe('history');
  expect([...historyValues(read?.body ?? Buffer.alloc(0))]).toEqual([
    ['trainyard/step', 40],
    ['train/loss', 0.1 + 0.2],
  ]);
});

const rowOf = (index: number, step: number): ReturnType<typeof historyRecord> =>
  historyRecord(index, [
    ['step', step],
    ['loss', step / 2],
  ]);

it('a file that was cut off is gone on with; an end makes way; a replaced one is another run', async () => {
  const run = { parent: folder.path, id: 'a:b', started: Date.UTC(2026, 0, 2, 3, 4, 5) };
  const made = await RunFolder.find(run, ['step']);
  await made.add([rowOf(0, 10), rowOf(1, 20), exitRecord(1, 5)]);
  expect(made.path).toBe(join(folder.path, 'wandb/offline-run-20260102_030405-a-b'));
  const file = join(made.path, 'run-a-b.wandb');
  const whole = readFileSync(file);
  appendFileSync(file, whole.subarray(7, 20));
  const again = await RunFolder.find(run, ['step']);
  expect(readFileSync(file)).toEqual(whole);
  expect(again.has(exitRecord(1, 5))).toBe(true);
  writeFileSync(`${file}.synced`, '');
  await again.add([rowOf(2, 30), exitRecord(0, 9)]);
  expect(existsSync(`${file}.synced`)).toBe(false);
  truncateSync(file, readFileSync(file).length - 1);
  const cut = await RunFolder.find(run, ['step']);
  expect([cut.rows, cut.has(exitRecord(0, 9)), cut.has(exitRecord(1, 5))]).toEqual([3, false, false]);
  expect([...(cut.values.get('loss') ?? [])]).toEqual([
    [10, 5],
    [20, 10],
    [30, 15],
  ]);
  const rewritten = await cut.replace();
  expect([rewritten.id, rewritten.rows]).toEqual(['a-b', 0]);
  await rewritten.add([rowOf(0, 10)]);
  writeFileSync(`${file}.syncstate`, '{}');
  const another = await rewritten.replace();
  await another.add([rowOf(0, 10)]);
  expect(another.id).toBe('a-b-2');
  expect(existsSync(made.path)).toBe(false);
  expect((await RunFolder.find(run, ['step'])).id).toBe('a-b-2');
  await expect(rewritten.add([rowOf(1, 20)])).rejects.toThrow('could not be written');
  await RunFolder.find(run, ['step']).then((one) => one.add([exitRecord(0, 1)]));
  await expect(another.add([rowOf(1, 20)])).rejects.toThrow('another program');
});
