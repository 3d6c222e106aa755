// Bounding boxes from an archive to the weights: others' code reads them in the shards, and a
// training whose crops show objects goes on bit for bit.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  fingerprint,
  killTrainerAt,
  lastOnly,
  recordTool,
  run as runProgram,
  runCli,
  runRanks,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('object-crops');
const images = join(folder.path, 'images');
const shards = join(folder.path, 'shards');
const boxes = join(folder.path, 'boxes');
const run = (name: string): string => join(folder.path, name);
const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'mlp', '--data', shards, '--run-dir', run(name), '--image-size', '72'],
    ...['--batch-size', '6', '--lr', '0.01', '--steps', '120', '--checkpoint-every', '10', ...more],
  ]);
const covered = ['--min-object-covered', '0.9'];
const prepared = (to: string): string[] => ['prep', '--from', images, '--to', to, '--shards', '2'];

/** Of an image of 100 x 50 pixels, in the words of Pascal VOC. */
const annotation = (xmin: number, ymin: number, xmax: number, ymax: number): string =>
  `<annotation><filename>%s</filename><size><width>100</width><height>50</height></size><object>
  <name>n0</name><bndbox><xmin>${xmin}</xmin><ymin>${ymin}</ymin><xmax>${xmax}</xmax><ymax>${ymax}</ymax></bndbox>
  </object></annotation>\n`;

beforeAll(async () => {
  const drawn = join(folder.path, 'drawn');
  const words = ['prep', '--from', 'demo:3x20', '--image-size', '96', '--validation', '0', '--to', drawn];
  expectExit(await runTrainer(words), 0);
  // Names as ImageNet's, each once. Two images of three have a box.
  for (const name of readdirSync(join(drawn, 'train'))) {
    mkdirSync(join(images, 'train', name), { recursive: true });
    mkdirSync(join(boxes, name), { recursive: true });
    readdirSync(join(drawn, 'train', name)).forEach((file, at) => {
      const stem = `${name}_${at}`;
      writeFileSync(
        join(images, 'train', name, `${stem}.JPEG`),
        readFileSync(join(drawn, 'train', name, file)),
      );
      if (at % 3 > 0) writeFileSync(join(boxes, name, `${stem}.xml`), annotation(25, 5, 75, 20 + at));
    });
  }
  writeFileSync(join(boxes, 'circle', 'circle_99.xml'), annotation(0, 0, 1, 1));
  writeFileSync(join(boxes, 'circle', 'circle_98.xml'), annotation(7, 7, 7, 9));
  const archive = join(folder.path, 'boxes.tar.gz');
  expectExit(await runProgram('tar', ['-C', boxes, '-czf', archive, '.']), 0);
  const made = await runTrainer([...prepared(shards), '--boxes', archive]);
  expectExit(made, 0);
  expect(made.stdout).toContain('39 images have bounding boxes; 1 boxes match no image');
  expect(made.stdout).toContain('1 boxes without area left out');
});
afterAll(folder.remove);

it('are read by TensorBoard’s record reader and Google’s protobuf, by Inception’s names', async () => {
  const runtime = await runCli(['runtime', '--json']);
  expectExit(runtime, 0);
  const { python } = JSON.parse(runtime.stdout.trim().split('\n').at(-1) ?? '') as { python: string };
  const files = readdirSync(shards).filter((name) => name.startsWith('train'));
  const read = await runProgram(python, [recordTool, 'read', ...files.map((name) => join(shards, name))]);
  expectExit(read, 0);
  const found = read.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown[]>);
  expect(found).toHaveLength(60);
  for (const record of found) {
    const at = Number(/_(\d+)\.JPEG$/.exec(String(record['image/filename']?.[0]))?.[1]);
    const fields = Object.fromEntries(Object.entries(record).filter(([name]) => name.includes('bbox')));
    expect(fields).toEqual(
      at % 3 === 0
        ? {}
        : {
            'image/object/bbox/xmin': [0.25],
            'image/object/bbox/xmax': [0.75],
            'image/object/bbox/ymin': [Math.fround(0.1)],
            'image/object/bbox/ymax': [Math.fround((20 + at) / 50)],
            'image/object/bbox/label': record['image/class/label'],
          },
    );
  }
});

it('are the same from two ranks', async () => {
  const to = join(folder.path, 'together');
  const made = await runRanks(2, [...prepared(to), '--boxes', boxes]);
  expectExit(made, 0);
  expect(made.stdout).toContain('39 images have bounding boxes; 1 boxes match no image');
  for (const name of readdirSync(shards)) {
    expect(readFileSync(join(to, name)).equals(readFileSync(join(shards, name)))).toBe(true);
  }
});

it('crops that show objects go on bit for bit after SIGKILL, with a cache or without', async () => {
  const alone = await runTrainer(training('alone', ...covered));
  expectExit(alone, 0);
  expect(alone.stderr).toContain('note: 39 of 60 images have bounding boxes');
  const at = join(run('killed'), 'checkpoints', checkpointName(20));
  await killTrainerAt(training('killed', ...covered, '--cache', 'ram'), at);
  expectExit(await runTrainer(training('killed', ...covered)), 0);
  expect(fingerprint(run('killed'), 120)).toBe(fingerprint(run('alone'), 120));
  expectExit(await runTrainer(training('plain')), 0);
  expect(fingerprint(run('plain'), 120)).not.toBe(fingerprint(run('alone'), 120));
});

it('boxes change nothing where nobody looks at them', async () => {
  const without = join(folder.path, 'without');
  expectExit(await runTrainer(prepared(without)), 0);
  const steps = ['--steps', '20'];
  expectExit(await runTrainer(training('boxes-there', ...steps)), 0);
  expectExit(await runTrainer(training('boxes-not-there', ...steps, '--data', without)), 0);
  expect(fingerprint(run('boxes-there'), 20)).toBe(fingerprint(run('boxes-not-there'), 20));
});

it('another part at a resume is named', async () => {
  expectExit(await runTrainer(training('changed', ...covered, '--steps', '3')), 0);
  const resumed = await runTrainer(training('changed', '--min-object-covered', '0.1', '--steps', '6'));
  expectExit(resumed, 0);
  expect(resumed.stderr).toContain('min_object_covered: 0.9, now 0.1');
});

it('what has no boxes, or no such crops, is refused', async () => {
  const folders = await runTrainer(training('refused', ...covered, '--data', join(images, 'train')));
  expectExit(folders, 3);
  expect(folders.stderr).toContain('trainer prep --boxes FILE');
  for (const [words, text] of [
    [['--image-size', '64'], 'images above 64 pixels'],
    [['--augment', 'none'], '--augment none makes none'],
    [['--min-object-covered', '0'], 'above 0'],
    [['--min-object-covered', '1.1'], 'up to 1'],
  ] as const) {
    const outcome = await runTrainer(training('refused', ...covered, ...words));
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain(text);
  }
});
