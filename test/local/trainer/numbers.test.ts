// Numbers and flags on the trainer's command line. The flags are those that each verb's --help
// names, so a new one is tried too; the trainer itself refuses to start with a numeric flag that
// has no range.
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parseTrainerHelp, type TrainerFlag } from '../../../src/core/plan/request/trainerHelp.js';
import {
  expectExit,
  lastOnly,
  readLines,
  run,
  runTrainer,
  temporaryFolder,
  trainer,
} from '../../support/harness.js';
import type { Outcome } from '../../support/harness.js';

const folder = temporaryFolder('numbers');
const data = join(folder.path, 'data');
afterAll(folder.remove);

const verbs = [
  ['train'],
  ['eval'],
  ['predict'],
  ['prep'],
  ['checkpoints', 'list'],
  ['devices'],
  ['selftest'],
  ['bench', 'step'],
  ['bench', 'matmul'],
  ['bench', 'allreduce'],
  ['bench', 'input'],
];

/** The one line on stderr that begins "trainer: error:". */
function errorLine({ stderr }: Outcome): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('trainer: error:'));
  expect(lines, stderr).toHaveLength(1);
  return lines[0] ?? '';
}

const isNumeric = ({ value }: TrainerFlag): boolean =>
  value === 'INT' || value === 'UINT' || value === 'FLOAT';

/** What is no number, no finite one, or beyond every range; and what is beyond the flag's own. */
function wrong({ value, range }: TrainerFlag): string[] {
  const [least = '', most = ''] = (range ?? '').split('..');
  const below = least.startsWith('>') ? least.slice(1) : String(Number(least) - 1);
  const above = most.startsWith('<') ? most.slice(1) : `${most}0`;
  return ['nan', 'inf', '1e300', '99999999999999999999', '0x8', '7x', '', below, above].concat(
    value === 'FLOAT' ? [] : ['1.5'],
  );
}

describe.each(verbs)('numbers of %s %s', (...verb: (string | undefined)[]) => {
  const words = verb.filter((word) => word !== undefined);
  it('are refused outside of their range, which the message names', { timeout: 240_000 }, async () => {
    const help = await runTrainer([...words, '--help']);
    expectExit(help, 0);
    const numeric = parseTrainerHelp(help.stdout).filter(isNumeric);
    const withNumbers = !['checkpoints', 'devices'].includes(words[0] ?? '');
    expect(numeric.length > 0).toBe(withNumbers);
    for (const flag of numeric) {
      expect(flag.range, flag.name).toMatch(/^>?-?[\d.e+]+\.\.<?[\d.e+]+$/);
      const outcomes = await Promise.all(
        wrong(flag).map(async (value) => ({
          value,
          outcome: await runTrainer([...words, `${flag.name}=${value}`]),
        })),
      );
      for (const { value, outcome } of outcomes) {
        const what = `${flag.name}=${value}`;
        if (value === '') {
          expect(outcome.code, what).toBe(2);
          continue;
        }
        expect(outcome.code, `${what}\n${outcome.stderr}`).toBe(2);
        expect(errorLine(outcome), what).toContain(flag.name);
        expect(errorLine(outcome), what).toMatch(
          /is not a (whole )?number (from|above) \S+ (to|up to|and below) \S+/,
        );
        expect(errorLine(outcome).length, what).toBeLessThan(200);
      }
    }
  });
});

const train = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'mlp', '--data', join(data, 'train'), '--batch-size', '8'],
    ...['--run-dir', join(folder.path, name), ...more],
  ]);

describe('flags', () => {
  beforeAll(async () => {
    expectExit(await runTrainer(['prep', '--from', 'demo:2x20', '--to', data]), 0);
  });

  it.each([
    { words: ['--lr', '0.1', '--seed', '2', '--lr', '0.2'], said: '--lr is given 2 times (0.1, 0.2)' },
    { words: ['--memory-growth', '--memory-growth'], said: '--memory-growth is given 2 times' },
    { words: ['--steps', '3', '--epochs', '2'], said: '--steps and --epochs' },
    {
      words: ['--lr-steps', '3,nan', '--lr-schedule', 'step'],
      said: "'nan' is not a number above 0 up to 1000000",
    },
    { words: ['--accumulate', '65536'], batch: '65536', said: '--batch-size or --accumulate' },
  ])('$said', async ({ words, said, batch = '8' }) => {
    const outcome = await runTrainer([...train('refused', '--batch-size', batch), ...words]);
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toContain(said);
    expect(existsSync(join(folder.path, 'refused', 'checkpoints'))).toBe(false);
  });

  it('bench step names the models where it does not know one', async () => {
    const outcome = await runTrainer(['bench', 'step', '--model', 'nope']);
    expectExit(outcome, 2);
    expect(errorLine(outcome)).toMatch(/nope is not known.*resnet20/);
  });
});

describe('limits of the shell', () => {
  it('ulimit -f is named where a checkpoint is cut by it', async () => {
    // In units of 1024 bytes (bash); the mlp has more.
    const outcome = await run('bash', [
      '-c',
      'ulimit -f 8; exec "$0" "$@"',
      trainer,
      ...train('small-files', '--steps', '2'),
    ]);
    expectExit(outcome, 3);
    expect(errorLine(outcome)).toContain('ulimit -f');
  });

  it('ulimit -n is named where no file can be opened any more', async () => {
    const outcome = await run('bash', [
      '-c',
      'ulimit -n 5; exec "$0" "$@"',
      trainer,
      ...train('few-files', '--steps', '2'),
    ]);
    expect(outcome.code).not.toBe(0);
    expect(outcome.stderr).toContain('ulimit -n');
  });
});

describe('a resume with another recipe', () => {
  it('names each field with its old and its new value, and goes on', async () => {
    expectExit(
      await runTrainer(train('recipe', '--steps', '4', '--checkpoint-every', '2', '--lr', '0.1')),
      0,
    );
    const more = [
      '--steps',
      '6',
      '--lr',
      '0.2',
      '--augment',
      'none',
      '--weight-decay',
      '0',
      '--label-smoothing',
      '0.1',
    ];
    const resumed = await runTrainer(train('recipe', ...more));
    expectExit(resumed, 0);
    const warnings = resumed.stderr.split('\n').filter((line) => line.includes('another recipe'));
    expect(warnings).toHaveLength(1);
    const start = readLines(join(folder.path, 'recipe', 'metrics.jsonl')).findLast(
      ({ kind }) => kind === 'start',
    );
    for (const change of [
      'augment: standard, now none',
      'label_smoothing: 0.0, now 0.1',
      'lr: 0.1, now 0.2',
      'total_steps: 4, now 6',
      'weight_decay: 0.0001, now 0.0',
    ]) {
      expect(warnings[0]).toContain(change);
      expect(start?.['recipe_changes']).toContain(change);
    }
    const same = await runTrainer(train('recipe', ...more));
    expectExit(same, 0);
    expect(same.stderr).not.toContain('another recipe');
  });
});

test('eval and predict refuse other classes alike, and name those that differ', async () => {
  const dir = join(folder.path, 'classes');
  expectExit(await runTrainer(train('classes', '--steps', '2')), 0);
  const [checkpoint = ''] = readdirSync(join(dir, 'checkpoints'));
  const other = join(folder.path, 'other');
  cpSync(join(data, 'train'), other, { recursive: true });
  const [first = ''] = readdirSync(other).sort();
  cpSync(join(other, first), join(other, 'zebra'), { recursive: true });
  const path = join(dir, 'checkpoints', checkpoint);
  // Of folders predict asks nobody for classes; labels of records mean nothing without theirs.
  const shards = join(folder.path, 'other-shards');
  expectExit(
    await runTrainer(['prep', '--from', other, '--to', shards, '--shards', '1', '--validation', '0.5']),
    0,
  );
  const evaluated = await runTrainer([
    ...['eval', '--once', '--run-dir', dir, '--checkpoint', path, '--data', shards],
  ]);
  const predicted = await runTrainer([
    ...['predict', '--checkpoint', path, '--data', shards, '--out', join(folder.path, 'p.csv')],
  ]);
  for (const outcome of [evaluated, predicted]) {
    expectExit(outcome, 3);
    expect(errorLine(outcome)).toContain('only here: zebra');
  }
  expect(errorLine(evaluated)).toBe(errorLine(predicted));
});
