// `trainyard sweep`: trials that are real runs on this machine, and a sweep that goes on after its
// client was killed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  cli,
  expectExit,
  parseLines,
  processesNaming,
  runCli,
  Running,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('sweep');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const runs = join(folder.path, 'work', 'runs');
const program = join(folder.path, 'program.sh');

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const local = { name: 'local', kind: 'local', workdir: join(folder.path, 'work') };
  const price = { pricePerNodeHour: 3.6, currency: 'EUR' };
  writeFileSync(
    join(home, 'profiles.json'),
    JSON.stringify({ version: 1, profiles: [{ ...local, ...price }] }),
  );
  writeFileSync(
    program,
    [
      'report() { printf \'{"step":%s,"val/acc":%s}\\n\' "$1" "$2" >> "$TRAINYARD_RUN_DIR/metrics.jsonl"; }',
      'echo "$1" >> "$2/started"',
      'if [ "$1" = bad ]; then echo "bad is no rate"; exit 3; fi',
      'report 1 "$1"',
      'while [ ! -e "$2/go" ]; do sleep 0.05; done',
      'report 2 0.05',
      'echo "$1" >> "$2/ended"',
    ].join('\n'),
  );
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

const tiny = ['train', '--model', 'mlp', '--device', 'cpu', '--steps', '3', '--threads', '1'];
const runCount = (): number => (existsSync(runs) ? readdirSync(runs).length : 0);

/** A folder for a program's own notes, and the words that sweep it over these values. */
function noted(name: string): { path: string; words: (lr: string, ...more: string[]) => string[] } {
  const path = join(folder.path, name);
  mkdirSync(path);
  const command = ['sh', program, '{lr}', path];
  return {
    path,
    words: (lr, ...more) => [
      ...['sweep', 'local', '--name', name, '--grid', `lr=${lr}`, '--metric', 'val/acc', ...more],
      ...['--', ...command],
    ],
  };
}
const lines = (...path: string[]): string[] =>
  existsSync(join(...path))
    ? readFileSync(join(...path), 'utf8')
        .trim()
        .split('\n')
    : [];
const startCli = (words: string[]): Running =>
  new Running(
    spawn(process.execPath, [cli, ...words], { ...options, env: { ...process.env, ...options.env } }),
  );

it('tries every combination as ordinary runs, and says which did best', async () => {
  const words = [
    ...[
      'sweep',
      'local',
      '--name',
      'rates',
      '--grid',
      'lr=0.1,0.01',
      '--grid',
      'batch-size=4,8',
      '--ranks',
      '1',
    ],
    ...['--tag', 'mine', '--json'],
    ...['--', ...tiny, '--data', 'synthetic', '--eval-data', 'synthetic'],
  ];
  const made = await runCli(words, options);
  expectExit(made, 0);
  const records = parseLines(made.stdout);
  const trials = records.filter(({ type }) => type === 'sweep-trial');
  const best = trials.map(({ best }) => Number(best));
  expect(best).toEqual(best.toSorted((a, b) => b - a));
  expect(trials).toHaveLength(4);
  for (const trial of trials) {
    expect(trial).toMatchObject({ status: 'finished', why: '', currency: 'EUR' });
    for (const figure of ['last', 'images_per_sec', 'seconds', 'cost'])
      expect(trial[figure]).toEqual(expect.any(Number));
  }
  const { values, number } = trials[0] as { values?: Record<string, string>; number?: number };
  expect(records.at(-1)).toMatchObject({
    ...{
      type: 'sweep',
      name: 'rates',
      metric: 'eval.top1',
      goal: 'max',
      best: number,
      trials: 4,
      finished: 4,
    },
    ...{ failed: 0, cancelled: false, folder: join(folder.path, 'sweep-rates') },
  });
  expect(records.at(-1)?.['command']).toMatch(
    new RegExp(
      `^trainyard run local --ranks 1 --tag mine -- train .* --lr ${values?.['lr'] ?? ''} --batch-size`,
    ),
  );
  const listed = parseLines((await runCli(['runs', 'local', '--json'], options)).stdout);
  expect(listed.map(({ name, tags }) => [name, tags])).toEqual([
    ['rates-04', ['rates', 'lr=0.01', 'batch-size=8', 'mine']],
    ['rates-03', ['rates', 'lr=0.01', 'batch-size=4', 'mine']],
    ['rates-02', ['rates', 'lr=0.1', 'batch-size=8', 'mine']],
    ['rates-01', ['rates', 'lr=0.1', 'batch-size=4', 'mine']],
  ]);
  expect(listed[0]?.['run']).toMatchObject({ report: { kind: 'sweep', trial: 4 } });
  for (const name of ['sweep.html', 'sweep.md', 'sweep.json']) {
    expect(existsSync(join(folder.path, 'sweep-rates', name))).toBe(true);
  }
  // It is whole, so nothing is started again.
  const again = await runCli(words, options);
  expectExit(again, 0);
  expect(again.stdout).toBe(made.stdout);
  expect(runCount()).toBe(4);
});

it('notes a trial that fails, and goes on with the others', async () => {
  const missing = join(folder.path, 'missing');
  const before = runCount();
  const words = ['sweep', 'local', '--name', 'data', '--grid', `data=${missing},synthetic`, '--', ...tiny];
  const made = await runCli(words, options);
  expectExit(made, 5);
  expect(made.stdout).toMatch(/^TRIAL +DATA +STATUS +BEST LOSS/);
  expect(made.stdout).toMatch(/^ +2 +synthetic +finished +\d/m);
  expect(made.stdout).toMatch(/^ +1 .* failed .*missing/m);
  expect(made.stdout).toContain('Best: data=synthetic (trial 2), with loss ');
  expect(made.stderr).toContain('1 of 2 trials finished.');
  expect(runCount()).toBe(before + 1);
});

it('goes on after its client was killed, attaches to what runs, and starts nothing twice', async () => {
  const { path, words } = noted('killed');
  const before = runCount();
  const first = startCli(words('0.3,bad,0.7,0.5', '--goal', 'max'));
  await until('the first trial', () => lines(path, 'started').length === 1);
  const record = join(folder.path, 'sweep-killed', 'sweep.json');
  await until('its record', () => readFileSync(record, 'utf8').includes('"status": "running"'));
  first.child.kill('SIGKILL');
  await first.ended;
  expect(lines(path, 'started')).toEqual(['0.3']);
  const second = startCli(['sweep', '--resume', 'sweep-killed', '--json']);
  await until('it attaches', () => second.stderr.includes('trial 1 (lr=0.3) of 4 attached: '));
  writeFileSync(join(path, 'go'), '');
  const ended = await second.ended;
  expectExit(ended, 5);
  const trials = parseLines(ended.stdout).filter(({ type }) => type === 'sweep-trial');
  expect(trials.map(({ number, status, best, last }) => [number, status, best, last])).toEqual([
    [3, 'finished', 0.7, 0.05],
    [4, 'finished', 0.5, 0.05],
    [1, 'finished', 0.3, 0.05],
    [2, 'failed', null, null],
  ]);
  expect(lines(path, 'started').filter((line) => line !== 'bad')).toEqual(['0.3', '0.7', '0.5']);
  expect(runCount()).toBe(before + 4);
  // What failed is tried once more where that is asked for.
  const again = await runCli(['sweep', '--resume', 'sweep-killed', '--again'], options);
  expectExit(again, 5);
  expect(runCount()).toBe(before + 5);
});

it('runs some at once, leaves them running at Ctrl-C, and goes on with the same command', async () => {
  const { path, words } = noted('together');
  const line = words('0.1,0.2,0.3', '--runs-at-once', '2');
  const first = startCli(line);
  await until('two trials', () => (first.stderr.match(/ started: /g) ?? []).length === 2);
  first.child.kill('SIGINT');
  const left = await first.ended;
  expectExit(left, 130);
  expect(left.stderr).toMatch(/goes on; stop it with: trainyard stop .*\n.*goes on; stop it with/);
  expect(left.stderr).toContain('go on with: trainyard sweep --resume ');
  writeFileSync(join(path, 'go'), '');
  await until('both to end', () => lines(path, 'ended').length === 2);
  const ended = await runCli(line, options);
  expectExit(ended, 0);
  expect(lines(path, 'started').toSorted()).toEqual(['0.1', '0.2', '0.3']);
  expect(ended.stdout).toContain('Best: lr=0.3 (trial 3), with val/acc 0.3, 0.05 at its end.');
  expect(ended.stdout).toContain(`again   trainyard run local -- sh ${program} 0.3 ${path}`);
});

it('stops poor trials at the places of comparison, goes on with the others, and keeps it so', async () => {
  const { path } = noted('poor');
  const curve = [
    'report() { printf \'{"step":%s,"val/acc":%s}\\n\' "$1" "$2" >> "$TRAINYARD_RUN_DIR/metrics.jsonl"; }',
    'echo "$1" >> "$2/started"',
    'report 1 0.01',
    'report 10 "$1"',
    'case "$1" in *0) sleep 1000;; esac', // it ends only where it is stopped
    'report 30 "$1"',
    'echo "$1" >> "$2/ended"',
  ];
  writeFileSync(join(path, 'curve.sh'), curve.join('\n'));
  const before = runCount();
  const words = [
    ...['sweep', 'local', '--name', 'poor', '--grid', 'lr=0.5,0.30,0.7,0.60,0.80', '--prune', '10'],
    ...['--metric', 'val/acc', '--json', '--', 'sh', join(path, 'curve.sh'), '{lr}', path],
  ];
  const first = startCli(words);
  // 0.80 is the best at step 10, so it goes on, and would never end.
  await until('the last trial', () => lines(path, 'started').at(-1) === '0.80', 60);
  const record = join(folder.path, 'sweep-poor', 'sweep.json');
  const kept = (): { trials: { number: number; marks?: number[] }[] } =>
    JSON.parse(readFileSync(record, 'utf8')) as ReturnType<typeof kept>;
  await until('its mark', () => kept().trials.at(-1)?.marks?.length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  const trials = kept().trials;
  expect(trials.map(({ marks }) => marks)).toEqual([[0.5, 0.5], [0.3], [0.7, 0.7], [0.6], [0.8]]);
  const last = parseLines((await runCli(['runs', 'local', '--json'], options)).stdout)[0];
  expectExit(await runCli(['stop', String(last?.['id'])], options), 0);
  const ended = await runCli(['sweep', '--resume', 'sweep-poor', '--json'], options);
  expectExit(ended, 5); // it was stopped, and not by the sweep
  const found = parseLines(ended.stdout).filter(({ type }) => type === 'sweep-trial');
  expect(found.map(({ number, status, best, why }) => [number, status, best, why])).toEqual([
    [5, 'stopped', 0.8, ''],
    [3, 'finished', 0.7, ''],
    [1, 'finished', 0.5, ''],
    [4, 'pruned', 0.6, 'val/acc 0.6 by step 10 is not among the best third'],
    [2, 'pruned', 0.3, 'val/acc 0.3 by step 10 is not among the best third'],
  ]);
  expect(parseLines(ended.stdout).at(-1)).toMatchObject({ best: 5, finished: 2, failed: 0, pruned: 2 });
  expect(lines(path, 'ended')).toEqual(['0.5', '0.7']);
  expect(runCount()).toBe(before + 5);
});

it('leaves a checkpoint of a training that it prunes', async () => {
  const words = [
    ...['sweep', 'local', '--name', 'rate', '--grid', 'lr=0.01,1e-9', '--prune', '20', '--json'],
    ...['--time-limit', '4s', '--', 'train', '--model', 'mlp', '--device', 'cpu', '--threads', '1'],
    ...['--data', 'synthetic', '--batch-size', '4', '--log-every', '5', '--steps', '100000'],
  ];
  const made = await runCli(words, options);
  expectExit(made, 5); // the first one was stopped by its limit
  const [good, poor] = parseLines(made.stdout).filter(({ type }) => type === 'sweep-trial');
  expect(good).toMatchObject({ number: 1, status: 'stopped' });
  expect(poor).toMatchObject({ number: 2, status: 'pruned' });
  const saved = readdirSync(join(String(poor?.['dir']), 'checkpoints'));
  expect(saved.length).toBeGreaterThan(0);
  const again = await runCli(['sweep', '--resume', 'sweep-rate', '--again', '--json'], options);
  expect(parseLines(again.stdout).find(({ number }) => number === 2)).toMatchObject({ id: poor?.['id'] });
});

const standIn = join(import.meta.dirname, '../../../build/native/release/tests/agent/nvml');
it.skipIf(!existsSync(join(standIn, 'libnvidia-ml.so.1')))(
  'has as many at once as there are GPUs, each on its own, and queues for more',
  async () => {
    const script = join(folder.path, 'nvml');
    writeFileSync(script, 'gpus 2\n');
    const env = {
      ...options.env,
      ...{ LD_LIBRARY_PATH: standIn, NVML_STAND_IN: script },
      TRAINYARD_GPU_LOCKS: join(folder.path, 'locks'),
    };
    const notes = join(folder.path, 'notes');
    const command = `echo "+$CUDA_VISIBLE_DEVICES" >> ${notes}; sleep {s}; echo "-$CUDA_VISIBLE_DEVICES" >> ${notes}`;
    const words = (name: string, atOnce: string): string[] => [
      ...['sweep', 'local', '--name', name, '--grid', 's=1.1,1.2,1.3', '--gpus', '1'],
      ...['--runs-at-once', atOnce, '--', 'sh', '-c', command],
    ];
    const made = await runCli(words('gpus', 'gpus'), { ...options, env });
    expectExit(made, 0);
    expect(made.stderr).not.toContain('in the queue');
    const more = await runCli(words('more', '3'), { ...options, env });
    expectExit(more, 0);
    expect(more.stderr).toContain('1st in the queue');
    const held = new Set<string>();
    for (const line of lines(notes)) {
      const gpu = line.slice(1);
      expect(held.has(gpu)).toBe(line.startsWith('-'));
      if (line.startsWith('+')) held.add(gpu);
      else held.delete(gpu);
    }
    expect(new Set(lines(notes))).toEqual(new Set(['+0', '-0', '+1', '-1']));
  },
);

it('refuses what cannot be tried before anything is started', async () => {
  const before = runCount();
  const train = ['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--device', 'cpu'];
  const cases: [string[], string][] = [
    [['sweep', '--grid', 'lr=1', ...train], 'P, the name of a profile, is missing'],
    [['sweep', 'local', ...train], 'Write, for example, --grid lr=0.1,0.01'],
    [['sweep', 'local', '--grid', 'lr=1'], 'there is nothing to run'],
    [['sweep', 'local', '--grid', 'batchsize=1', ...train], 'Did you mean batch-size?'],
    [['sweep', 'local', '--grid', 'lr=0.1,fast', ...train], 'with lr=fast: --lr must be a number'],
    [['sweep', 'local', '--grid', 'lr=1', '--metric', 'eval.top1', ...train], 'eval.top1 needs evaluations'],
    [['sweep', 'local', '--grid', 'lr=1', '--seed', '2', ...train], '--seed means nothing without --random'],
    [['sweep', 'local', '--grid', 'lr=1', '--runs-at-once', 'gpus', ...train], 'how many GPUs a trial takes'],
    [['sweep', 'local', '--grid', 'lr=1', '--', 'sh', program], 'Write {lr} where its value belongs'],
    [['sweep', 'local', '--grid', 'lr=1', '--prune', '0', ...train], '--prune must be a whole number'],
    [
      ['sweep', 'local', '--grid', 'lr=1', '--prune', '9', ...train, '--steps', '9'],
      'trials are compared after step 9, and each ends after 9 steps',
    ],
    [
      ['sweep', 'local', '--resume', 'sweep-rates'],
      'local does not go with --resume: it was said when the sweep began',
    ],
    [
      ['sweep', '--resume', 'sweep-rates', '--goal', 'min'],
      '--goal does not go with --resume: it was said when the sweep began',
    ],
    [['sweep', '--resume', 'nowhere'], 'has no sweep'],
    [
      ['sweep', 'local', '--name', 'rates', '--grid', 'lr=1', ...train],
      'has another sweep: rates, 4 trials on local',
    ],
  ];
  for (const [line, said] of cases) {
    const refused = await runCli(line, options);
    expectExit(refused, 2);
    expect(refused.stderr).toContain(said);
  }
  expect(runCount()).toBe(before);
});

it('a detached sweep takes turns without its client, and is stopped as a whole', async () => {
  const { path, words } = noted('turns');
  const before = runCount();
  expectExit(await runCli(words('0.1,0.2,0.3,0.4', '--detach', '--runs-at-once', '2'), options), 0);
  expect(runCount()).toBe(before + 4);
  await until('two of them to run', () => lines(path, 'started').length === 2);
  const other = await runCli(['sweep', '--stop', 'sweep-turns', '--again'], options);
  expectExit(other, 2);
  expect(other.stderr).toContain('--again does not go with --stop');
  const listed = parseLines((await runCli(['runs', 'local', '--tag', 'turns', '--json'], options)).stdout);
  expect(listed.map(({ phase }) => phase)).toEqual(['queued', 'queued', 'running', 'running']);

  const stopped = await runCli(['sweep', '--stop', 'sweep-turns', '--json'], options);
  expectExit(stopped, 0);
  expect(parseLines(stopped.stdout).map(({ type, phase }) => [type, phase])).toEqual(
    [1, 2, 3, 4].map(() => ['stopped', 'stopped']),
  );
  expect(lines(path, 'started').sort()).toEqual(['0.1', '0.2']); // those that waited never began
  const ended = await runCli(['sweep', '--resume', 'sweep-turns', '--json'], options);
  expectExit(ended, 5);
  const trials = parseLines(ended.stdout).filter(({ type }) => type === 'sweep-trial');
  expect(trials.map(({ status }) => status)).toEqual([1, 2, 3, 4].map(() => 'stopped'));
  expect(trials.filter(({ seconds }) => Number(seconds) < 1)).toHaveLength(2); // no time in the queue counts
  const nothing = await runCli(['sweep', '--stop', 'sweep-turns'], options);
  expectExit(nothing, 0);
  expect(nothing.stderr).toContain('no trial of it waits or is under way');
});
