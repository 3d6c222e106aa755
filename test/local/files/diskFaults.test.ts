// Disks that fail or hang while a rank starts, reads images and writes checkpoints: by strace, in
// the real trainer.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureStrace } from '../../../scripts/test/strace.mjs';
import {
  expectExit,
  fingerprint,
  readLines,
  Running,
  runTrainer,
  temporaryFolder,
  trainer,
  until,
  lastOnly,
} from '../../support/harness.js';

const folder = temporaryFolder('disk-faults');
const classes = join(folder.path, 'classes');
const shards = join(folder.path, 'shards');
const steps = 8;

beforeAll(async () => {
  const demo = ['prep', '--from', 'demo:2x24', '--image-size', '40', '--validation', '0'];
  expectExit(await runTrainer([...demo, '--to', classes]), 0);
  expectExit(await runTrainer([...demo, '--to', shards, '--shards', '1']), 0);
});
afterAll(folder.remove);

const training = (data: string, dir: string, ...more: string[]): string[] => [
  ...[
    'train',
    '--model',
    'mlp',
    '--data',
    data,
    '--run-dir',
    dir,
    '--image-size',
    '32',
    '--batch-size',
    '12',
  ],
  ...['--steps', String(steps), '--log-every', '1', '--seed', '3', ...more],
];

/** The trainer under strace, which lets calls on `path` fail or wait as `inject` says. */
function startFailing(inject: string[], path: string | undefined, args: string[]): Running {
  const { program, env } = ensureStrace();
  const only = path === undefined ? [] : ['-P', path];
  const traced = inject.flatMap((what) => ['-e', `inject=${what}`]);
  const calls = inject.map((what) => what.slice(0, what.indexOf(':'))).join();
  const words = [
    '-f',
    '-qq',
    '-o',
    join(folder.path, 'strace.log'),
    ...only,
    '-e',
    `trace=${calls}`,
    ...traced,
  ];
  return new Running(
    spawn(program, [...words, trainer, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, OMP_NUM_THREADS: '1' },
    }),
  );
}

const badImages = (dir: string): unknown[] =>
  readLines(join(dir, 'metrics.jsonl')).filter(({ kind }) => kind === 'bad_image');
const firstImage = (): string => {
  const [name] = readdirSync(join(classes, 'train')).sort();
  const images = join(classes, 'train', name ?? '');
  return join(images, readdirSync(images).sort()[0] ?? '');
};
const beatOf = (dir: string): { time: number; phase: string } | undefined => {
  const path = join(dir, 'heartbeats', 'rank-0');
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return text === '' ? undefined : (JSON.parse(text) as { time: number; phase: string });
};

describe('a disk that fails while images are read', () => {
  it('for a moment: the weights of an undisturbed run, no image replaced, and a word about it', async () => {
    const alone = join(folder.path, 'alone');
    expectExit(await runTrainer(training(join(classes, 'train'), alone)), 0);
    const dir = join(folder.path, 'moment');
    const image = firstImage();
    const run = startFailing(['openat:error=ESTALE:when=1..2'], image, training(join(classes, 'train'), dir));
    const outcome = await run.ended;
    expectExit(outcome, 0);
    expect(outcome.stderr).toContain(`trainer: warning: cannot read ${image}: Stale file handle`);
    expect(outcome.stderr).toContain('can be read again');
    expect(badImages(dir)).toEqual([]);
    expect(fingerprint(dir, steps)).toBe(fingerprint(alone, steps));
  });

  it('for longer than --retry-seconds: exit 3 with file and reason, and no image is called bad', async () => {
    const dir = join(folder.path, 'gone');
    const image = firstImage();
    const args = training(join(classes, 'train'), dir, '--retry-seconds', '0.5');
    const outcome = await startFailing(['openat:error=EIO'], image, args).ended;
    expectExit(outcome, 3);
    expect(outcome.stderr).toMatch(
      new RegExp(`trainer: error: cannot read ${image}: Input/output error.* It was tried for`),
    );
    expect(badImages(dir)).toEqual([]);
  });

  it('without hope (EACCES): at once, with file and reason', async () => {
    const dir = join(folder.path, 'closed');
    const image = firstImage();
    const args = training(join(classes, 'train'), dir, '--retry-seconds', '3600');
    const outcome = await startFailing(['openat:error=EACCES'], image, args).ended;
    expectExit(outcome, 3);
    expect(outcome.stderr).toContain(`trainer: error: cannot read ${image}: Permission denied`);
  });

  it('in a shard: its records are read again, and none is called bad', async () => {
    const [name] = readdirSync(shards).filter((file) => file.startsWith('train-'));
    const shard = join(shards, name ?? '');
    const alone = join(folder.path, 'shard-alone');
    expectExit(await runTrainer(training(shards, alone)), 0);
    const dir = join(folder.path, 'shard');
    // The walk at the start reads it in a thread of its own; the decoding thread's third read
    // fails, and its fourth.
    const run = startFailing(['pread64:error=EIO:when=20..21'], shard, training(shards, dir));
    const outcome = await run.ended;
    expectExit(outcome, 0);
    expect(outcome.stderr).toContain(`trainer: warning: cannot read ${shard}: Input/output error`);
    expect(badImages(dir)).toEqual([]);
    expect(fingerprint(dir, steps)).toBe(fingerprint(alone, steps));
  });
});

describe('signs of life', () => {
  it('none while a shard is waited for', async () => {
    const [name] = readdirSync(shards).filter((file) => file.startsWith('train-'));
    const shard = join(shards, name ?? '');
    const dir = join(folder.path, 'hanging');
    const run = startFailing(['pread64:delay_enter=6000000:when=1'], shard, training(shards, dir));
    const first = await until('a first heartbeat', () => beatOf(dir));
    const seen = new Set<number>();
    const deadline = Date.now() + 4000;
    await until('four seconds of the six', () => {
      const beat = beatOf(dir);
      if (beat?.phase === 'starting') seen.add(beat.time);
      return Date.now() > deadline;
    });
    // One may come from what was read before; four a second came from the clock alone.
    expect([...seen].filter((time) => time > first.time + 1).length).toBeLessThanOrEqual(2);
    expectExit(await run.ended, 0);
  });

  it('while a checkpoint is written slowly', async () => {
    const dir = join(folder.path, 'slow');
    const small = ['--model', 'resnet18', '--steps', '1', '--batch-size', '2'];
    const args = lastOnly(training(join(classes, 'train'), dir, ...small));
    const run = startFailing(['write:delay_exit=60000'], undefined, args);
    const seen = new Set<number>();
    await until(
      'signs of life in a checkpoint',
      () => {
        const beat = beatOf(dir);
        if (beat?.phase === 'checkpoint') seen.add(beat.time);
        return seen.size >= 3 || run.child.exitCode !== null;
      },
      150,
    );
    expectExit(await run.ended, 0);
    expect(seen.size).toBeGreaterThanOrEqual(3);
  });
});

describe('predict', () => {
  it('takes plain images: a folder of them, a list, one file; classes are asked of nobody', async () => {
    const checkpoint = join(folder.path, 'alone', 'checkpoints', `step-${String(steps).padStart(8, '0')}`);
    const predicted = async (data: string): Promise<string[][]> => {
      const out = join(folder.path, 'predicted.csv');
      expectExit(
        await runTrainer(['predict', '--checkpoint', checkpoint, '--data', data, '--out', out, '--logits']),
        0,
      );
      return readFileSync(out, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((row) => row.split(','));
    };
    const whole = await predicted(join(classes, 'train'));
    expect(whole).toHaveLength(48);
    const image = firstImage();
    const ofClass = await predicted(join(image, '..'));
    expect(ofClass).toEqual(whole.slice(0, 24).map(([, ...rest], i) => [ofClass[i]?.[0], ...rest]));
    const list = join(folder.path, 'list.txt');
    writeFileSync(list, `${image}\n\nclasses/train/${image.split('/').slice(-2).join('/')}\r\n`);
    expect((await predicted(list)).map(([, ...rest]) => rest)).toEqual([
      whole[0]?.slice(1),
      whole[0]?.slice(1),
    ]);
    expect(await predicted(image)).toEqual([whole[0]]);
    writeFileSync(list, `${image}\nno/such.jpg\n`);
    const outcome = await runTrainer([
      ...['predict', '--checkpoint', checkpoint, '--data', list, '--out', join(folder.path, 'none.csv')],
    ]);
    expectExit(outcome, 3);
    expect(outcome.stderr).toContain(
      `line 2 of ${list} names ${join(folder.path, 'no/such.jpg')}, which is no file`,
    );
  });
});
