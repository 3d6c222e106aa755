// TFRecord shards: what is written is read by others' code, what others write is read here, and
// training on shards is training on the same images in folders.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Line, Outcome } from '../../support/harness.js';
import {
  expectExit,
  readLines,
  recordTool,
  run,
  runCli,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('records');
const images = join(folder.path, 'images');
const shards = join(folder.path, 'shards');
const theirs = join(folder.path, 'theirs');
let python = '';

const others = (args: string[]): Promise<Outcome> => run(python, [recordTool, ...args]);

beforeAll(async () => {
  const runtime = await runCli(['runtime', '--json']);
  expectExit(runtime, 0);
  ({ python } = JSON.parse(runtime.stdout.trim().split('\n').at(-1) ?? '') as { python: string });
  expectExit(await runTrainer(['prep', '--from', 'demo:3x40', '--to', images]), 0);
  const made = await runTrainer(['prep', '--from', images, '--to', shards, '--shards', '3']);
  expectExit(made, 0);
  expect(made.stdout).toContain('96 training and 24 validation images of 3 classes');
  expectExit(await others(['write', join(images, 'train'), join(folder.path, 'train-00000-of-00001')]), 0);
});
afterAll(folder.remove);

/** Trains eight steps; gives the lines of metrics and the weights' hash. */
async function train(
  name: string,
  data: string,
  ...flags: string[]
): Promise<{ lines: Line[]; sha256: string }> {
  const dir = join(folder.path, name);
  const args = [
    'train',
    '--model',
    'mlp',
    '--data',
    data,
    '--run-dir',
    dir,
    '--batch-size',
    '12',
    '--threads',
    '1',
  ];
  expectExit(await runTrainer([...args, '--steps', '8', '--log-every', '1', ...flags]), 0);
  const weights = readFileSync(join(dir, 'checkpoints/step-00000008/model.safetensors'));
  return {
    lines: readLines(join(dir, 'metrics.jsonl')),
    sha256: createHash('sha256').update(weights).digest('hex'),
  };
}

const losses = (lines: Line[]): unknown[] =>
  lines.filter(({ kind }) => kind === 'step').map(({ loss }) => loss);

describe('shards that trainer prep writes', () => {
  it('are the same from two ranks of a run', async () => {
    const to = join(folder.path, 'together');
    const words = ['prep', '--from', images, '--to', to, '--shards', '3'];
    const made = await runCli(['run', 'local', '--ranks', '2', '--run-dir', `${to}-run`, '--', ...words]);
    expectExit(made, 0);
    expect(made.stdout).toContain('96 training and 24 validation images of 3 classes');
    expect(readdirSync(to)).toEqual(readdirSync(shards));
    for (const name of readdirSync(to)) {
      expect(readFileSync(join(to, name)).equals(readFileSync(join(shards, name)))).toBe(true);
    }
  });

  it('are read by TensorBoard’s record reader and Google’s protobuf, each image as it is in its folder', async () => {
    for (const half of ['train', 'validation']) {
      const files = readdirSync(shards).filter((name) => name.startsWith(half));
      expect(files.sort()).toEqual([0, 1, 2].map((n) => `${half}-0000${n}-of-00003`));
      const read = await others(['read', ...files.map((name) => join(shards, name))]);
      expectExit(read, 0);
      const found = read.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown[]>);
      const classes = ['circle', 'square', 'triangle'];
      const expected = classes.flatMap((name, label) =>
        readdirSync(join(images, half, name))
          .sort()
          .map((image) => {
            const bytes = readFileSync(join(images, half, name, image));
            return {
              'image/channels': [3],
              'image/class/label': [label],
              'image/class/text': [name],
              'image/colorspace': ['RGB'],
              'image/encoded': [
                { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
              ],
              'image/filename': [`${name}/${image}`],
              'image/format': ['JPEG'],
              'image/height': [64],
              'image/width': [64],
            };
          }),
      );
      expect(found).toEqual(expected);
    }
    expect(readFileSync(join(shards, 'labels.txt'), 'utf8')).toBe('0:circle\n1:square\n2:triangle\n');
  });

  it('train as the folders do, step by step and bit by bit', async () => {
    const fromFolders = await train('run-folders', join(images, 'train'));
    const fromShards = await train('run-shards', shards, '--loader-threads', '2');
    expect(losses(fromFolders.lines)).toHaveLength(8);
    expect(losses(fromShards.lines)).toEqual(losses(fromFolders.lines));
    expect(fromShards.sha256).toBe(fromFolders.sha256);
    const start = fromShards.lines.find(({ kind }) => kind === 'start');
    expect(start).toMatchObject({
      classes: 3,
      class_names: ['circle', 'square', 'triangle'],
      train_images: 96,
    });
  });

  it('are evaluated by their validation half', async () => {
    const args = ['eval', '--run-dir', join(folder.path, 'run-shards'), '--once', '--data'];
    const [onShards, byName, onFolders] = [
      await runTrainer([...args, shards]),
      await runTrainer([...args, join(shards, 'validation')]),
      await runTrainer([...args, join(images, 'validation')]),
    ];
    expectExit(onShards, 0);
    expect(onShards.stdout).toContain('24 images');
    expect(onShards.stdout).toBe(onFolders.stdout);
    expect(byName.stdout).toBe(onFolders.stdout);
  });
});

describe('shards that others wrote', () => {
  it('with labels from 1 ask for --label-offset, and with it train as the folders do', async () => {
    const dir = join(folder.path, 'run-refused');
    const args = ['train', '--model', 'mlp', '--data', join(folder.path, 'train'), '--run-dir', dir];
    const refused = await runTrainer(args);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('Add --label-offset 1');
    const fromTheirs = await train('run-theirs', join(folder.path, 'train'), '--label-offset', '1');
    const fromFolders = await train('run-again', join(images, 'train'));
    expect(losses(fromTheirs.lines)).toEqual(losses(fromFolders.lines));
    expect(fromTheirs.sha256).toBe(fromFolders.sha256);
    // The evaluator takes the offset from the checkpoint.
    const evaluated = await runTrainer([
      ...[
        'eval',
        '--run-dir',
        join(folder.path, 'run-theirs'),
        '--once',
        '--data',
        join(folder.path, 'train'),
      ],
    ]);
    expectExit(evaluated, 0);
    expect(evaluated.stdout).toContain('96 images');
  });

  it('go on from a checkpoint as if never interrupted', async () => {
    const whole = await train('run-whole', shards);
    const dir = join(folder.path, 'run-halves');
    const half = ['--checkpoint-every', '3'];
    await train('run-halves', shards, ...half);
    for (const step of ['00000008', '00000006']) {
      writeFileSync(join(dir, `checkpoints/step-${step}/manifest.json`), 'damaged');
    }
    const again = await train('run-halves', shards, ...half);
    expect(again.lines.filter(({ kind }) => kind === 'start').at(-1)).toMatchObject({
      resumed_from: 'step-00000003',
    });
    expect(again.sha256).toBe(whole.sha256);
  });
});

describe('damaged shards', () => {
  it('are used but for the damaged record, which is named, until there are too many', async () => {
    const made = await runTrainer(['prep', '--from', images, '--to', theirs, '--shards', '1']);
    expectExit(made, 0);
    const shard = join(theirs, 'train-00000-of-00001');
    const bytes = readFileSync(shard);
    bytes[2000] = (bytes[2000] ?? 0) ^ 1;
    writeFileSync(shard, bytes);
    truncateSync(shard, bytes.length - 10);
    const named = await train('run-damaged', theirs, '--augment', 'none');
    const bad = named.lines.filter(({ kind }) => kind === 'bad_image');
    expect(bad.map(({ path }) => path)).toContain(`${shard} at byte 0`);
    expect(bad.map(({ message }) => String(message)).join()).toMatch(/checksum of its data is wrong/);
    expect(bad.map(({ message }) => String(message)).join()).toMatch(/cut short/);
    const dir = join(folder.path, 'run-strict');
    const strict = await runTrainer([
      ...[
        'train',
        '--model',
        'mlp',
        '--data',
        theirs,
        '--run-dir',
        dir,
        '--batch-size',
        '12',
        '--steps',
        '8',
      ],
      ...['--max-bad-images', '1'],
    ]);
    expect(strict.code).toBe(3);
    expect(strict.stderr).toMatch(/2 images could not be decoded.*train-00000-of-00001 at byte \d+/);
  });
});
