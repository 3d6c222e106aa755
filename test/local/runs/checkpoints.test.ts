// What a person does with checkpoints by `trainyard`, on real ones.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  cli as program,
  expectExit,
  processesNaming,
  readLines,
  runCli,
  runTrainer,
  start,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';
import { makeCheckpoint } from '../../support/madeCheckpoint.js';

const folder = temporaryFolder('checkpoint-verbs');
const home = join(folder.path, 'home');
const cli = (...words: string[]): Promise<Outcome> => runCli(words, { env: { TRAINYARD_HOME: home } });
const dir = join(folder.path, 'first');
const data = join(folder.path, 'shapes');
const images = join(data, 'train');
const record = (run: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as Record<string, unknown>;

beforeAll(async () => {
  expectExit(await cli('runtime'), 0);
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  expectExit(await runTrainer(['prep', '--from', 'demo:3x20', '--to', data, '--image-size', '32']), 0);
  const train = ['train', '--model', 'mlp', '--data', images, '--threads', '1', '--steps', '60'];
  const flags = ['--checkpoint-every', '20', '--seed', '3', '--batch-size', '8'];
  expectExit(await cli('run', 'local', '--ranks', '1', '--run-dir', dir, '--', ...train, ...flags), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

it('run-from starts a new run with the weights, and says where it came from', async () => {
  const started = await cli('run-from', dir, '40', '--json', '--', '--steps', '1', '--lr', '1e-9');
  expectExit(started, 0);
  const runs = join(folder.path, 'work/runs');
  const [id = ''] = readdirSync(runs);
  const made = join(runs, id);
  expect(record(made)).toMatchObject({
    from: { dir, step: 40 },
    argv: [
      ...['train', '--model', 'mlp', '--data', images, '--threads', '1'],
      ...['--checkpoint-every', '20', '--seed', '3', '--batch-size', '8', '--steps', '1', '--lr', '1e-9'],
      ...['--init-weights', join(dir, 'checkpoints', checkpointName(40), 'model.safetensors')],
      ...['--device', 'cpu'],
    ],
  });
  const [start] = readLines(join(made, 'metrics.jsonl'));
  expect(start).toMatchObject({ kind: 'start', resumed_from: null, made_new: [], total_steps: 1 });

  const none = await cli('run-from', dir, '41');
  expectExit(none, 2);
  expect(none.stderr).toContain('no checkpoint of step 41. Its checkpoints are those of step 20, 40, 60');
});

it('download: killed in the middle it goes on, a damaged byte is found, and only the whole gets the name', async () => {
  const made = makeCheckpoint(dir, 99, 40_000_000);
  const to = join(folder.path, 'here');
  const final = join(to, checkpointName(99));
  const weights = join(`${final}.partial`, 'model.safetensors');
  const words = ['download', dir, '99', to];
  const first = start(process.execPath, [program, ...words], { env: { TRAINYARD_HOME: home } });
  await until('some megabytes', () => existsSync(weights) && statSync(weights).size > 1_000_000);
  first.child.kill('SIGKILL');
  await first.ended;
  const before = statSync(weights).size;
  expect(before).toBeLessThan(40_000_000);
  expect(existsSync(final)).toBe(false);

  const bytes = readFileSync(weights);
  bytes[500_000] = (bytes[500_000] ?? 0) ^ 1;
  writeFileSync(weights, bytes);
  const damaged = await cli(...words);
  expectExit(damaged, 5);
  expect(damaged.stderr).toMatch(
    /model\.safetensors has another SHA-256 than [0-9a-f]{64}, so it was removed/,
  );
  expect([existsSync(final), existsSync(weights)]).toEqual([false, false]);

  const whole = await cli(...words, '--json');
  expectExit(whole, 0);
  const said = JSON.parse(whole.stdout) as Record<string, unknown>;
  expect(said).toEqual({ type: 'downloaded', step: 99, path: final, bytes: 40_001_013, kept: 1013 });
  expect(readdirSync(to)).toEqual([checkpointName(99)]);
  for (const name of readdirSync(made)) {
    expect(readFileSync(join(final, name)).equals(readFileSync(join(made, name))), name).toBe(true);
  }
  expectExit(await cli(...words), 0);
  appendFileSync(join(final, 'manifest.json'), ' ');
  const other = await cli(...words);
  expectExit(other, 2);
  expect(other.stderr).toContain('is there already, and is not this checkpoint');

  const file = join(folder.path, 'a file');
  writeFileSync(file, '');
  const onFile = await cli('download', dir, '99', file);
  expectExit(onFile, 4);
  expect(onFile.stderr).toContain(`${file} is a file. Name a folder.`);
  const inProc = await cli('download', dir, '99', '/proc/trainyard/x');
  expectExit(inProc, 4);
  expect(inProc.stderr).toContain('/proc/trainyard/x cannot be made');
});

it('download --file: what an own program wrote beside its code, and on after a kill', async () => {
  const code = join(folder.path, 'code');
  mkdirSync(code);
  const script = [
    'mkdir -p outputs/logs && echo step 1 >outputs/logs/log && ln -s /etc/hostname outputs/elsewhere',
    'head -c 40000000 /dev/urandom >outputs/model.pt && echo state >"$TRAINYARD_RUN_DIR/mine.pt"',
  ];
  writeFileSync(join(code, 'write.sh'), script.join('\n'));
  const run = join(folder.path, 'wrote');
  expectExit(await cli('run', 'local', '--run-dir', run, '--code', code, '--', 'bash', 'write.sh'), 0);
  const to = join(folder.path, 'files');
  const words = ['download', run, '--file', 'outputs', to];
  const partial = join(to, 'outputs.partial/files/model.pt');
  const first = start(process.execPath, [program, ...words], { env: { TRAINYARD_HOME: home } });
  await until('some megabytes', () => existsSync(partial) && statSync(partial).size > 1_000_000, 20);
  first.child.kill('SIGKILL');
  await first.ended;
  expect(readdirSync(to)).toEqual(['outputs.partial']);
  const before = statSync(partial).size;
  expect(before).toBeLessThan(40_000_000);
  appendFileSync(join(run, 'code/outputs/logs/log'), 'step 2\n');

  const whole = await cli(...words, '--file', 'mine.pt', '--json');
  expectExit(whole, 0);
  const counts = { type: 'downloaded-files', leftOut: ['elsewhere'], leftOutCount: 1 };
  expect(
    whole.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { ...counts, file: 'outputs', path: join(to, 'outputs'), files: 2, bytes: 40_000_014, kept: before },
    {
      ...counts,
      file: 'mine.pt',
      path: join(to, 'mine.pt'),
      files: 1,
      bytes: 6,
      kept: 0,
      leftOut: [],
      leftOutCount: 0,
    },
  ]);
  expect(readdirSync(to).sort()).toEqual(['mine.pt', 'outputs']);
  expect(readFileSync(join(to, 'outputs/logs/log'), 'utf8')).toBe('step 1\nstep 2\n');
  const [here, there] = [join(to, 'outputs'), join(run, 'code/outputs')].map((at) =>
    readFileSync(join(at, 'model.pt')),
  );
  expect(here?.equals(there ?? Buffer.alloc(0))).toBe(true);

  const again = await cli(...words);
  expectExit(again, 0);
  expect(again.stdout).toBe(`${join(to, 'outputs')}  2 files, 40.0 MB, 40.0 MB of it from before\n`);
  expect(again.stderr).toContain('left out, since these are no longer there');
  writeFileSync(join(to, 'mine.pt'), 'my own');
  for (const [more, said] of [
    [['--file', 'mine.pt', to], 'mine.pt is there already, and is not what the run has now'],
    [['--file', 'outputs/best.pt', to], 'code/outputs has elsewhere, logs/, model.pt.'],
    [[to], 'STEP is missing'],
    [['40', to, '--file', 'mine.pt'], 'STEP and --file stand beside each other'],
  ] as const) {
    const refused = await cli('download', run, ...more);
    expectExit(refused, 2);
    expect(refused.stderr).toContain(said);
  }
  expect(readFileSync(join(to, 'mine.pt'), 'utf8')).toBe('my own');
});

it('delete --step: says what is lost, asks, and leaves the last valid one', async () => {
  const other = join(folder.path, 'other');
  const train = ['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1', '--steps', '2'];
  expectExit(
    await cli('run', 'local', '--ranks', '1', '--run-dir', other, '--', ...train, '--checkpoint-every', '1'),
    0,
  );
  const asked = await cli('delete', other, '--step', '1');
  expectExit(asked, 2);
  expect(asked.stderr).toContain('there is no terminal to ask on');
  const gone = await cli('delete', other, '--step', '1', '--yes', '--json');
  expectExit(gone, 0);
  expect(JSON.parse(gone.stdout)).toMatchObject({ type: 'deleted-checkpoint', step: 1, dir: other });
  expect(readdirSync(join(other, 'checkpoints'))).toEqual([checkpointName(2)]);
  const last = await cli('delete', other, '--step', 'latest', '--yes');
  expectExit(last, 2);
  expect(last.stderr).toContain('step 2 is the last valid checkpoint of');
  expectExit(await cli('delete', other, '--step', '7', '--yes'), 2);
});

it('eval: the result is a line of the metrics, and without data to evaluate on it says so', async () => {
  const unnamed = await cli('eval', dir, '20');
  expectExit(unnamed, 2);
  expect(unnamed.stderr).toContain('nobody knows on which images');
  const outcome = await cli('eval', dir, '20', '--data', join(data, 'validation'), '--json');
  expectExit(outcome, 0);
  const said = JSON.parse(outcome.stdout) as Record<string, unknown>;
  const line = readLines(join(dir, 'metrics.jsonl')).at(-1);
  expect(line).toMatchObject({ kind: 'eval', step: 20, top1: said['top1'], images: said['images'] });
  expect(said).toMatchObject({ type: 'evaluation', step: 20 });

  const onOthers = await cli('eval', dir, '40', '--data', images);
  expectExit(onOthers, 0);
  expect(onOthers.stdout).toMatch(/ {2}loss (?=[\d.]{5,7} )\d+\.\d+ {2}/);
  const listed = (await cli('checkpoints', dir)).stdout.split('\n');
  expect(listed[0]).toMatch(/^STEP +TOP-1 +SIZE/);
  expect(listed[1]).toMatch(/^ *20 +[\d.]+% best /);
  expect(listed[2]).toMatch(/^ *40 +[\d.]+% on train, \d+ images /);
  expect(listed[3]).toMatch(/^ *60 {3,}/);
});

it('a run from a checkpoint goes on from its own, also when the file that it began with is gone', async () => {
  const weights = join(folder.path, 'weights.safetensors');
  const flags = ['--batch-size', '8', '--init-weights', weights, '--checkpoint-every', '1'];
  const train = ['train', '--model', 'mlp', '--data', images, '--threads', '1', ...flags];
  const own = join(folder.path, 'own');
  const first = await runTrainer([...train, '--run-dir', own, '--steps', '1']);
  expectExit(first, 2);
  expect(first.stderr).toContain(`--init-weights ${weights} does not exist`);
  copyFileSync(join(dir, 'checkpoints', checkpointName(20), 'model.safetensors'), weights);
  expectExit(await runTrainer([...train, '--run-dir', own, '--steps', '1']), 0);
  rmSync(weights);
  expectExit(await runTrainer([...train, '--run-dir', own, '--steps', '2']), 0);
  const starts = readLines(join(own, 'metrics.jsonl')).filter(({ kind }) => kind === 'start');
  expect(starts.map((line) => line['resumed_from'])).toEqual([null, checkpointName(1)]);
});
