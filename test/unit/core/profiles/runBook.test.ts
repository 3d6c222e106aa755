import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bookedProfile, RunBook } from '../../../../src/core/profiles/runBook.js';
import { temporaryFolder } from '../../support/temporary.js';

it('finds the profile of a run by its id, a part of it, or last', async () => {
  const home = join(temporaryFolder(), 'made');
  const book = new RunBook(home);
  expect(await book.profileOf('last')).toBeUndefined();
  await book.add('20261121-104500-mlp-1f2e', 'lab');
  await book.add('20261121-104600-resnet20-aaaa', 'local');
  expect(await book.profileOf('last')).toBe('local');
  expect(await book.profileOf('20261121-104500-mlp-1f2e')).toBe('lab');
  expect(await book.profileOf('mlp')).toBe('lab');
  expect(await book.profileOf('20261121')).toBeUndefined();
  expect(await book.profileOf('')).toBeUndefined();
  expect((await book.runs()).map(({ profile }) => profile)).toEqual(['local', 'lab']);
  expect(statSync(join(home, 'runs.jsonl')).mode & 0o777).toBe(0o600);
});

it('finds it by its name, before a part of an id, and by the last one that it was given', async () => {
  const home = temporaryFolder();
  const book = new RunBook(home);
  await book.add('20261121-104500-baseline-v2-a-1f2e', 'lab', 'Baseline_v2 A');
  await book.add('20261121-104600-mlp-aaaa', 'local');
  await book.add('20261121-104700-x-bbbb', 'lab', 'mlp');
  expect(await book.profileOf('Baseline_v2 A')).toBe('lab');
  expect(await book.profileOf('mlp')).toBe('lab');
  await book.add('20261121-104500-baseline-v2-a-1f2e', 'lab'); // a resume gives no name
  expect(await book.profileOf('Baseline_v2 A')).toBe('lab');
  await book.rename('20261121-104700-x-bbbb', 'wider');
  await book.rename('of another machine', 'Baseline_v2 A');
  expect(await book.profileOf('wider')).toBe('lab');
  expect(await book.profileOf('mlp')).toBe('local');
  expect((await book.runs())[0]?.name).toBe('Baseline_v2 A'); // the last one is still that
  await book.rename('20261121-104700-x-bbbb', '');
  expect(await book.profileOf('wider')).toBeUndefined();
});

it('lists the runs of one name where they are on several profiles', async () => {
  const book = new RunBook(temporaryFolder());
  await book.add('20261121-104500-x-1f2e', 'lab', 'X 1');
  await book.add('20261121-104600-x-aaaa', 'lab', 'X 1');
  expect(await book.profileOf('X 1')).toBe('lab'); // which of them is to be asked there
  await book.add('20261121-104700-x-bbbb', 'local', 'X 1');
  await expect(book.profileOf('X 1')).rejects.toThrow(
    '"X 1" names 3 runs: 20261121-104700-x-bbbb of profile local, 20261121-104600-x-aaaa of profile lab',
  );
});

it('lives with a file that is not whole', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'runs.jsonl'), '{"id":"a","profile":"lab"}\n{"id":3}\n{"id":"b","pro');
  const book = new RunBook(home);
  expect(await book.profileOf('a')).toBe('lab');
  await book.add('c', 'local');
  expect(await book.profileOf('last')).toBe('local');
  expect(await book.profileOf('a')).toBe('lab');
});

it('keeps the lines of processes that add at the same time', async () => {
  const home = temporaryFolder();
  const ids = Array.from({ length: 50 }, (_, at) => `run-${at}`);
  await Promise.all(ids.map((id) => new RunBook(home).add(id, 'lab')));
  const kept = (await new RunBook(home).runs()).map(({ id }) => id);
  expect(kept.sort()).toEqual(ids.sort());
});

it('has a run once, and the newest 500 runs', async () => {
  const home = temporaryFolder();
  const lines = Array.from({ length: 1000 }, (_, at) => `{"id":"r${at}","profile":"lab"}\n`);
  writeFileSync(join(home, 'runs.jsonl'), lines.join(''));
  const book = new RunBook(home);
  await book.add('r999', 'local');
  const runs = await book.runs();
  expect(runs).toHaveLength(500);
  expect(runs.slice(0, 2)).toEqual([
    { id: 'r999', profile: 'local' },
    { id: 'r998', profile: 'lab' },
  ]);
  expect(readFileSync(join(home, 'runs.jsonl'), 'utf8').split('\n')).toHaveLength(501);
});

it('says which profile is no more, and takes no other one for it', async () => {
  const book = new RunBook(temporaryFolder());
  await book.add('20261121-104500-mlp-1f2e', 'lab');
  const saved = { profiles: [{ name: 'local' }], broken: [] };
  for (const text of ['last', '20261121-104500-mlp-1f2e', 'mlp']) {
    await expect(bookedProfile(book, text, saved)).rejects.toThrow(
      `"${text}" was started on profile lab, which is not there any more`,
    );
  }
  expect(await bookedProfile(book, 'other', saved)).toBeUndefined();
  // What is wrong with it is said where it is read.
  expect(await bookedProfile(book, 'last', { profiles: [], broken: [{ name: 'lab' }] })).toBe('lab');
});
