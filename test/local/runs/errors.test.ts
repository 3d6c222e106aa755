// What goes wrong is said in one line that tells what to do, with the exit code of
// docs/contracts.md, and leaves nothing behind.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import {
  expectExit,
  lastOnly,
  processesNaming,
  readLines,
  run,
  runCli,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  until,
} from '../../support/harness.js';
import type { Outcome } from '../../support/harness.js';

const folder = temporaryFolder('errors');
const data = join(folder.path, 'data');
const trainData = join(data, 'train');

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:3x40', '--to', data]), 0);
});
afterEach(() => {
  expect(processesNaming(folder.path)).toEqual([]);
});
afterAll(folder.remove);

/** The one line on stderr that begins "trainer: error:". */
function errorLine({ stderr }: Outcome): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('trainer: error:'));
  expect(lines, stderr).toHaveLength(1);
  return lines[0] ?? '';
}

const train = (runDir: string, ...more: string[]): string[] => [
  'train',
  '--model',
  'mlp',
  '--data',
  trainData,
  '--run-dir',
  join(folder.path, runDir),
  '--batch-size',
  '8',
  ...more,
];

/**
 * Calls `body` with a disk of its own of `size`, unmounted afterwards; skips the test, saying why,
 * where mounting is refused.
 */
async function onSmallDisk(
  context: TestContext,
  size: string,
  body: (mount: string) => Promise<void>,
): Promise<void> {
  const mount = mkdtempSync(join(folder.path, 'disk-'));
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mount]);
  if (mounted.code !== 0) context.skip('mounting a small disk needs root');
  try {
    await body(mount);
  } finally {
    expectExit(await run('umount', [mount]), 0);
  }
}

describe('usage', () => {
  it('an unknown flag names the nearest known one', async () => {
    const outcome = await runTrainer(['train', '--batchsize', '8']);
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain('Did you mean --batch-size?');
  });
  it('an unknown verb', async () => {
    const outcome = await runTrainer(['trian']);
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain('Did you mean train?');
  });
  it('an unknown model names the known ones', async () => {
    const outcome = await runTrainer(lastOnly([...train('model'), '--model', 'resnet5']));
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toMatch(/resnet20.*resnet18|resnet18.*resnet20/);
  });
  it('a batch larger than the data set names the largest that fits', async () => {
    const outcome = await runTrainer(lastOnly([...train('batch'), '--batch-size', '5000']));
    expectExit(outcome, 3);
    expect(errorLine(outcome)).toContain('96');
  });
  it('--comm nccl where no GPU is says why', async () => {
    const outcome = await runTrainer(lastOnly([...train('nccl'), '--comm', 'nccl']));
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain('--device cpu has none. Use --comm mpi or auto');
  });
  it('--jpeg-decoder nvjpeg where no GPU is says why', async () => {
    const outcome = await runTrainer(lastOnly([...train('nvjpeg'), '--jpeg-decoder', 'nvjpeg']));
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain('--device cpu has none. Leave it out, or use --device cuda');
  });
  it('--memory-growth on the CPU', async () => {
    const outcome = await runTrainer(lastOnly([...train('growth'), '--memory-growth']));
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain('--memory-growth');
  });
  it.each([
    ['train', train('cuda')],
    ['eval', ['eval', '--run-dir', join(folder.path, 'cuda'), '--data', trainData, '--once']],
    [
      'predict',
      ['predict', '--checkpoint', folder.path, '--data', trainData, '--out', join(folder.path, 'p')],
    ],
    ['bench step', ['bench', 'step']],
  ])('%s --device cuda without a CUDA back end is never exit 0', async (_verb, argv) => {
    const outcome = await runTrainer([...argv, '--device', 'cuda']);
    expectExit(outcome, 4);
    expect(errorLine(outcome)).toContain('libtrainer_cuda.so');
  });
});

describe('data', () => {
  it('a missing folder', async () => {
    const outcome = await runTrainer([
      'train',
      '--model',
      'mlp',
      '--data',
      join(folder.path, 'nowhere'),
      '--run-dir',
      join(folder.path, 'missing'),
    ]);
    expectExit(outcome, 3);
    expect(errorLine(outcome)).toContain(join(folder.path, 'nowhere'));
  });
  it('an empty class is named', async () => {
    const copy = join(folder.path, 'empty-class');
    mkdirSync(join(copy, 'hollow'), { recursive: true });
    mkdirSync(join(copy, 'full'));
    const [name] = readdirSync(trainData);
    const [image] = readdirSync(join(trainData, name ?? ''));
    copyFileSync(join(trainData, name ?? '', image ?? ''), join(copy, 'full', 'a.jpg'));
    const outcome = await runTrainer([
      'train',
      '--model',
      'mlp',
      '--data',
      copy,
      '--run-dir',
      join(folder.path, 'hollow-run'),
    ]);
    expectExit(outcome, 3);
    expect(errorLine(outcome)).toContain('hollow');
  });
  it('a corrupt JPEG is named and counted; training goes on', async () => {
    const copy = join(folder.path, 'corrupt');
    await run('cp', ['-r', trainData, copy]);
    const [name] = readdirSync(copy);
    const victim = join(copy, name ?? '', 'broken.jpg');
    writeFileSync(victim, 'this is no JPEG');
    const outcome = await runTrainer([
      'train',
      '--model',
      'mlp',
      '--data',
      copy,
      '--run-dir',
      join(folder.path, 'corrupt-run'),
      '--batch-size',
      '8',
      '--epochs',
      '2',
    ]);
    expectExit(outcome, 0);
    expect(outcome.stderr).toContain(victim);
    const named = readLines(join(folder.path, 'corrupt-run', 'metrics.jsonl')).filter(
      (line) => line.kind === 'bad_image',
    );
    expect(named).toHaveLength(1);
    expect(named[0]).toMatchObject({ path: victim, count: 1 });
    // Judged once or not at all: the bad one is left out of predictions and named, and nothing
    // stands in for it.
    const [checkpoint] = readdirSync(join(folder.path, 'corrupt-run', 'checkpoints'));
    const csv = join(folder.path, 'predictions.csv');
    const predicted = await runTrainer([
      'predict',
      '--checkpoint',
      join(folder.path, 'corrupt-run', 'checkpoints', checkpoint ?? ''),
      '--data',
      copy,
      '--out',
      csv,
    ]);
    expectExit(predicted, 0);
    expect(predicted.stderr).toContain(victim);
    const paths = readFileSync(csv, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[0]);
    expect(paths).toHaveLength(96);
    expect(new Set(paths).size).toBe(96);
    const strict = await runTrainer([
      'train',
      '--model',
      'mlp',
      '--data',
      copy,
      '--run-dir',
      join(folder.path, 'strict-run'),
      '--batch-size',
      '8',
      '--max-bad-images',
      '0',
    ]);
    expectExit(strict, 3);
    expect(errorLine(strict)).toContain('--max-bad-images');
  });
});

describe('a full disk at a checkpoint', () => {
  it('training goes on, the last valid checkpoint is kept, and it is said', async (context) => {
    await onSmallDisk(context, '16m', async (mount) => {
      const dir = join(mount, 'run');
      const training = (steps: string, ...more: string[]): string[] => [
        'train',
        '--model',
        'mlp',
        '--data',
        trainData,
        '--run-dir',
        dir,
        '--batch-size',
        '8',
        '--checkpoint-every',
        '5',
        '--steps',
        steps,
        ...more,
      ];
      const first = await runTrainer(training('5'));
      expectExit(first, 0);
      writeFileSync(join(mount, 'ballast'), Buffer.alloc(7 << 20));
      const second = await runTrainer(training('20', '--log-every', '1'));
      expectExit(second, 3);
      expect(second.stderr).toContain('Training goes on');
      expect(errorLine(second)).toMatch(/No space left on device.*--resume auto/);
      const lines = readLines(join(dir, 'metrics.jsonl'));
      expect(lines.filter((line) => line.kind === 'checkpoint_failed').length).toBeGreaterThan(0);
      expect(lines.some((line) => line.kind === 'step' && line['step'] === 20)).toBe(true);
      const verified = await runTrainer(['checkpoints', 'verify', '--run-dir', dir, '--json']);
      expectExit(verified, 0);
      expect(JSON.parse(verified.stdout.trim())).toMatchObject({ step: 5, valid: true });
      expect(readdirSync(join(dir, 'checkpoints'))).toEqual(['step-00000005']);
    });
  });
});

describe('signals to the trainer', () => {
  const long = (dir: string): string[] => [
    'train',
    '--model',
    'resnet20',
    '--data',
    trainData,
    '--run-dir',
    dir,
    '--batch-size',
    '8',
    '--epochs',
    '10000',
    '--log-every',
    '1',
    '--checkpoint-every',
    '100000',
  ];
  const training = (dir: string): boolean =>
    existsSync(join(dir, 'metrics.jsonl')) &&
    readFileSync(join(dir, 'metrics.jsonl'), 'utf8').includes('"step":3,');

  it('SIGINT once: a checkpoint, then exit 75', async () => {
    const dir = join(folder.path, 'int-once');
    const running = start(trainer, long(dir));
    await until('training', () => training(dir));
    running.child.kill('SIGINT');
    expectExit(await running.ended, 75);
    const lines = readLines(join(dir, 'metrics.jsonl'));
    const end = lines.find((line) => line.kind === 'end');
    expect(end).toMatchObject({ reason: 'stopped' });
    expect(lines.filter((line) => line.kind === 'checkpoint').map((line) => line['step'])).toEqual([
      end?.['step'],
    ]);
  });

  it('SIGINT twice: at once', async () => {
    const dir = join(folder.path, 'int-twice');
    const running = start(trainer, lastOnly([...long(dir), '--batch-size', '96']));
    await until('training', () => existsSync(join(dir, 'metrics.jsonl')));
    running.child.kill('SIGINT');
    await new Promise((wake) => setTimeout(wake, 150));
    running.child.kill('SIGINT');
    const outcome = await running.ended;
    expect([130, 75]).toContain(outcome.code); // 75 when the one step under way ended between the two
  });
});

describe('trainyard', () => {
  it('more ranks than this machine has are refused before anything starts', async () => {
    const dir = join(folder.path, 'too-many');
    const outcome = await runCli(['run', 'local', '--ranks', '4096', '--', ...train('too-many')]);
    expectExit(outcome, 4);
    expect(outcome.stderr).toMatch(/^trainyard: error: .*4096/m);
    expect(existsSync(dir)).toBe(false);
  });
  it('a missing data folder is refused before anything starts', async () => {
    const dir = join(folder.path, 'no-data');
    const outcome = await runCli([
      'run',
      'local',
      '--',
      'train',
      '--model',
      'mlp',
      '--data',
      join(folder.path, 'nowhere'),
      '--run-dir',
      dir,
    ]);
    expectExit(outcome, 4);
    expect(outcome.stderr).toContain(join(folder.path, 'nowhere'));
    expect(existsSync(dir)).toBe(false);
  });
  it('an unknown verb and an unknown flag', async () => {
    const verb = await runCli(['rnu']);
    expectExit(verb, 2);
    expect(verb.stderr).toContain('run');
    expectExit(await runCli(['runs', '--jsn']), 2);
  });
  it.each([
    ['a flag that the trainer does not have', ['--modle', 'mlp'], 'no flag --modle. Did you mean --model?'],
    ['a value beyond its range', ['--prefetch', '0'], '--prefetch must be a whole number from 1 to 1024'],
  ])('%s, before a run is made', async (_, words, said) => {
    const outcome = await runCli(['run', 'local', '--ranks', '1', '--', ...train('never', ...words)]);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain(said);
    expect(existsSync(join(folder.path, 'never'))).toBe(false);
  });
  it('a run that fails says why and exits 5', async () => {
    const dir = join(folder.path, 'fails');
    const outcome = await runCli([
      'run',
      'local',
      '--ranks',
      '2',
      '--',
      ...lastOnly(train('fails', '--batch-size', '5000')),
    ]);
    expectExit(outcome, 5);
    expect(outcome.stdout + outcome.stderr).toContain('96');
    expect(JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8'))).toMatchObject({
      phase: 'failed',
      exitCode: 3,
    });
  });
  it('no space for the runtime is said before it is made, and leaves nothing', async (context) => {
    await onSmallDisk(context, '8m', async (mount) => {
      const outcome = await runCli(['runtime'], { env: { XDG_CACHE_HOME: mount } });
      expectExit(outcome, 4);
      expect(outcome.stderr).toMatch(/trainyard: error: .*(space|free)/i);
      expect(
        readdirSync(join(mount, 'trainyard', 'runtime')).filter((name) => !name.startsWith('.')),
      ).toEqual([]);
    });
  });
});
