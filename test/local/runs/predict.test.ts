// What a checkpoint makes of pictures, beside its evaluation on the same ones.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Mistakes } from '../../../src/core/checkpoints/mistakes.js';
import {
  expectExit,
  processesNaming,
  runCli,
  runTrainer,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('predict-verb');
const home = join(folder.path, 'home');
const dir = join(folder.path, 'run');
const data = join(folder.path, 'shapes');
const validation = join(data, 'validation');
const cli = (...words: string[]): Promise<Outcome> => runCli(words, { env: { TRAINYARD_HOME: home } });

interface Line {
  type: string;
  file: string;
  step: number;
  top5: { class: string; probability: number }[];
}
const lines = ({ stdout }: Outcome): Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
/** Class and path of every picture that validates. */
const pictures = (): { name: string; path: string }[] =>
  readdirSync(validation).flatMap((name) =>
    readdirSync(join(validation, name)).map((file) => ({ name, path: join(validation, name, file) })),
  );

beforeAll(async () => {
  expectExit(await cli('runtime'), 0);
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  expectExit(await runTrainer(['prep', '--from', 'demo:3x30', '--to', data, '--image-size', '32']), 0);
  const train = ['train', '--model', 'mlp', '--data', join(data, 'train'), '--threads', '1', '--steps', '30'];
  const flags = ['--checkpoint-every', '15', '--seed', '3', '--batch-size', '8'];
  expectExit(await cli('run', 'local', '--ranks', '1', '--run-dir', dir, '--', ...train, ...flags), 0);
});
afterAll(async () => {
  await until('every process of the run to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

it('finds as many right as the evaluation does, in the order in which pictures are named', async () => {
  const all = pictures();
  const evaluated = await cli('eval', dir, '15', '--data', validation, '--json');
  expectExit(evaluated, 0);
  const { top1 } = JSON.parse(evaluated.stdout) as { top1: number };
  const asked = await cli('predict', dir, '--step', '15', '--json', ...all.map(({ path }) => path));
  expectExit(asked, 0);
  const found = lines(asked).filter(({ type }) => type === 'prediction');
  expect(found.map(({ file }) => file)).toEqual(all.map(({ path }) => path));
  const right = found.filter(({ top5 }, index) => top5[0]?.class === all[index]?.name).length;
  expect(right / all.length).toBeCloseTo(top1, 9);
  for (const { type, step, top5 } of found) {
    expect([type, step, top5.length]).toEqual(['prediction', 15, 3]);
    expect(top5.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 6);
  }
  expect(readdirSync(dir).filter((name) => name.startsWith('predict-'))).toEqual([]);
});

it('tells what is wrong by the folders of the pictures, and the same of a table of the trainer', async () => {
  const all = pictures();
  const asked = await cli('predict', dir, '--step', '15', '--json', ...all.map(({ path }) => path));
  const found = lines(asked).filter(({ type }) => type === 'prediction');
  const wrong = found.filter(({ top5 }, at) => top5[0]?.class !== all[at]?.name);
  const told = JSON.parse(asked.stdout.trim().split('\n').at(-1) ?? '') as Mistakes & { type: string };
  expect(told).toMatchObject({ type: 'mistakes', step: 15, images: all.length, unlabelled: 0 });
  expect(told.right).toBe(all.length - wrong.length);
  expect(told.classes.map((each) => each.class).sort()).toEqual(readdirSync(validation).sort());
  expect(told.confusions.reduce((sum, { images }) => sum + images, 0)).toBe(wrong.length);
  expect(told.surest.map(({ file }) => file).sort()).toEqual(wrong.map(({ file }) => file).sort());

  const table = join(folder.path, 'predictions.csv');
  const checkpoint = join(dir, 'checkpoints/step-00000015');
  const words = ['predict', '--checkpoint', checkpoint, '--data', validation, '--out', table];
  expectExit(await runTrainer([...words, '--logits']), 0);
  const counted = await cli('predict', dir, table, '--json');
  expectExit(counted, 0);
  const { images, right, classes, confusions } = told;
  expect(JSON.parse(counted.stdout)).toMatchObject({ step: null, images, right, classes, confusions });
  const printed = await cli('predict', dir, table);
  expect(printed.stdout).toContain(`right: ${right} of ${images} pictures in class folders`);
  expect(printed.stdout).toMatch(/^CLASS +RIGHT +PICTURES +ACCURACY$/m);

  const elsewhere = join(folder.path, 'elsewhere.jpg');
  copyFileSync(all[0]?.path ?? '', elsewhere);
  const alone = await cli('predict', dir, elsewhere);
  expect(alone.stdout.trim().split('\n')).toHaveLength(1); // its class is not known
  const both = await cli('predict', dir, elsewhere, table);
  expectExit(both, 2);
  expect(both.stderr).toContain('Name a table of predictions alone');
});

it('names a file that is no picture, and shows the others', async () => {
  const [first, second] = pictures().map(({ path }) => path);
  const bad = join(folder.path, 'bad.jpg');
  writeFileSync(bad, readFileSync(first ?? '').subarray(0, 40));
  const asked = await cli('predict', dir, first ?? '', bad, second ?? '');
  expectExit(asked, 5);
  const [one, two, three] = asked.stdout.trim().split('\n');
  expect(one).toMatch(/^.*\.jpg: \w+ \d+\.\d%, \w+ \d+\.\d%, \w+ \d+\.\d%$/);
  expect(two).toBe(`${bad}: cannot be read as a picture`);
  expect(three).toContain(`${second ?? ''}: `);
});

it('knows a picture by its content, whatever its file is called', async () => {
  const [first = ''] = pictures().map(({ path }) => path);
  const [bare, wrong, text] = ['bare', 'wrong.png', 'notes.txt'].map((name) => join(folder.path, name));
  copyFileSync(first, bare!);
  copyFileSync(first, wrong!);
  writeFileSync(text!, 'no picture\n');
  const asked = await cli('predict', dir, '--json', first, bare!, text!, wrong!);
  expectExit(asked, 5);
  const found = lines(asked).filter(({ type }) => type === 'prediction');
  expect(found.map(({ file }) => file)).toEqual([first, bare, text, wrong]);
  expect(found[1]?.top5).toEqual(found[0]?.top5);
  expect(found[3]?.top5).toEqual(found[0]?.top5);
  expect(found[2]?.top5).toEqual([]);
  const alone = await cli('predict', dir, text!);
  expectExit(alone, 5);
  expect(alone.stdout).toBe(`${text!}: cannot be read as a picture\n`);
});

it('says so of a file alone that is no picture, and of an empty one', async () => {
  for (const [name, bytes] of [
    ['text.jpg', 'no picture\n'],
    ['empty.png', ''],
  ] as const) {
    const bad = join(folder.path, name);
    writeFileSync(bad, bytes);
    const asked = await cli('predict', dir, bad);
    expectExit(asked, 5);
    expect(asked.stdout.trim()).toBe(`${bad}: cannot be read as a picture`);
  }
});

it('refuses a step, a file or a folder that is not there', async () => {
  const [first = ''] = pictures().map(({ path }) => path);
  const cases: [string[], string][] = [
    [['--step', '16', first], 'no checkpoint of step 16'],
    [[join(folder.path, 'none.jpg')], 'no such file'],
    [[folder.path], 'is no file'],
    [[], 'FILE… is missing'],
  ];
  for (const [words, expected] of cases) {
    const refused = await cli('predict', dir, ...words);
    expectExit(refused, 2);
    expect(refused.stderr).toContain(expected);
  }
});
