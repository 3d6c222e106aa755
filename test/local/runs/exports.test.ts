// Exports: one that cannot begin (no server, a login that is refused, which then is in no output
// and no file), files of figures, and exports that go along with a run.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../../scripts/lib/freePort.mjs';
import {
  cli as program,
  expectExit,
  readLines,
  run,
  runCli,
  start,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('export');
const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCli(words, { env: { ...home, ...env } });
afterAll(() => {
  folder.remove();
});

it('no server, and a login that is refused; the password stands in no output', async () => {
  const dir = join(folder.path, 'alone');
  const training = ['--model', 'mlp', '--data', 'synthetic', '--steps', '5'];
  expectExit(await cli(['run', 'local', '--run-dir', dir, '--', 'train', ...training]), 0);
  const nobody = await cli([
    'export',
    dir,
    '--to',
    'mlflow',
    '--uri',
    `http://127.0.0.1:${await freePort()}`,
  ]);
  expectExit(nobody, 3);
  expect(nobody.stderr).toContain('ECONNREFUSED');
  const heard: IncomingHttpHeaders[] = [];
  const closed = createServer((request, answer) => {
    heard.push(request.headers);
    answer.writeHead(401).end('no');
  });
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const words = [
    'export',
    dir,
    '--to',
    'mlflow',
    '--uri',
    `http://127.0.0.1:${(closed.address() as AddressInfo).port}`,
  ];
  const secret = 'hush-4711';
  const refused = await cli(words, { MLFLOW_TRACKING_TOKEN: secret, TRAINYARD_LOG: 'debug' });
  closed.close();
  expectExit(refused, 4);
  expect(refused.stderr).toContain('HTTP 401');
  expect(heard[0]?.authorization).toBe(`Bearer ${secret}`);
  expect(refused.stdout + refused.stderr).not.toContain(secret);
  const kept = await run('grep', ['-r', secret, folder.path]);
  expect(kept.code).toBe(1);
  const inAddress = await cli(['export', dir, '--to', 'mlflow', '--uri', `http://ada:${secret}@127.0.0.1`]);
  expectExit(inAddress, 2);
  expect(inAddress.stderr).not.toContain(secret);
});

it('for W&B: flags of the other tracker; a folder that is missing is made, a file is refused', async () => {
  const wandb = (...more: string[]): Promise<Outcome> => cli(['export', 'last', '--to', 'wandb', ...more]);
  const asMlflow = await wandb('--uri', 'http://127.0.0.1');
  expectExit(asMlflow, 2);
  expect(asMlflow.stderr).toContain('--uri does not go with --to wandb. Name a folder with --dir');
  const taken = await wandb('--checkpoints', 'last');
  expectExit(taken, 2);
  expect(taken.stderr).toContain('wandb artifact put');
  const dir = join(folder.path, 'alone');
  const made = join(folder.path, 'made', 'here');
  expectExit(await cli(['export', dir, '--to', 'wandb', '--dir', made]), 0);
  expect(readdirSync(join(made, 'wandb'))).toHaveLength(1);
  const onFile = await cli(['export', dir, '--to', 'wandb', '--dir', join(dir, 'run.json')]);
  expectExit(onFile, 4);
  expect(onFile.stderr).toContain('run.json is a file. Name a folder.');
});

/** Steps and losses that the run's own file has. */
const losses = (dir: string): [number, number][] =>
  readLines(join(dir, 'metrics.jsonl')).flatMap((line) =>
    line.kind === 'step' ? [[Number(line['step']), Number(line['loss'])]] : [],
  );
const lossesOfCsv = (file: string): [number, number][] => {
  const [head = [], ...rows] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows
    .filter((cells) => cells[head.indexOf('step')] !== '')
    .map((cells) => [Number(cells[head.indexOf('step')]), Number(cells[head.indexOf('train/loss')])]);
};

it('into files of CSV and JSON: every step, as the run has it', async () => {
  const dir = join(folder.path, 'alone');
  const at = join(folder.path, 'tables');
  mkdirSync(at);
  const csv = await cli(['export', dir, '--to', 'csv', '--out', at, '--json']);
  expectExit(csv, 0);
  const { place, values } = JSON.parse(csv.stdout) as { place: string; values: number };
  expect(place).toMatch(/\/tables\/[^/]*\.csv$/);
  expect(values).toBeGreaterThan(10);
  expect(losses(dir).length).toBeGreaterThan(0);
  expect(lossesOfCsv(place)).toEqual(losses(dir));
  expectExit(await cli(['export', dir, '--to', 'json', '--out', join(at, 'a.json')]), 0);
  const { run: about, steps } = JSON.parse(readFileSync(join(at, 'a.json'), 'utf8')) as {
    run: { status: string; settings: Record<string, string> };
    steps: { step: number; values: Record<string, number> }[];
  };
  expect(about).toMatchObject({ status: 'finished', settings: { model: 'mlp' } });
  expect(steps.map((row) => [row.step, row.values['train/loss']])).toEqual(losses(dir));
  const nowhere = await cli(['export', dir, '--to', 'csv', '--out', join(at, 'no/a.csv')]);
  expectExit(nowhere, 2);
  expect(nowhere.stderr).toContain('there is no folder');
});

it('a file that cannot be written whole stays as it was', async () => {
  const dir = join(folder.path, 'alone');
  const at = join(folder.path, 'full');
  mkdirSync(at);
  const file = join(at, 'a.csv');
  writeFileSync(file, 'before\n');
  // Files of this process may be 1 block long: to it, the disk is full there.
  const words = [program, 'export', dir, '--to', 'csv', '--out', file];
  const script = `trap '' XFSZ; ulimit -f 1; exec "$@"`;
  const failed = await run('sh', ['-c', script, 'sh', process.execPath, ...words], {
    env: { ...process.env, ...home },
  });
  expectExit(failed, 5);
  expect(failed.stderr).toContain('could not be written');
  expect(readFileSync(file, 'utf8')).toBe('before\n');
  expect(readdirSync(at)).toEqual(['a.csv']);
});

it('--export goes along with a run, over a resume, and the last look has everything', async () => {
  const dir = join(folder.path, 'live');
  const csv = join(folder.path, 'live.csv');
  const wandb = join(folder.path, 'offline');
  mkdirSync(wandb);
  const training = ['--model', 'mlp', '--data', 'synthetic', '--steps', '1000000', '--log-every', '20'];
  const flags = ['--run-dir', dir, '--ranks', '1', '--export', `csv=${csv}`, '--export', `wandb=${wandb}`];
  const first = ['run', 'local', ...flags, '--', 'train', ...training, '--checkpoint-every', '100'];
  for (const words of [first, ['resume', dir, '--export', `csv=${csv}`]]) {
    const before = existsSync(csv) ? lossesOfCsv(csv).length : 0;
    const running = start(process.execPath, [program, ...words], { env: { ...process.env, ...home } });
    await until('figures of the run under way', () => existsSync(csv) && lossesOfCsv(csv).length > before);
    expectExit(await cli(['stop', dir]), 0);
    const stopped = await running.ended;
    expectExit(stopped, 75);
    expect(stopped.stderr).toContain(`export to csv: ${csv} has `);
    expect(losses(dir).length).toBeGreaterThan(before);
    expect(lossesOfCsv(csv)).toEqual(losses(dir));
  }
  expect(readdirSync(join(wandb, 'wandb'))).toHaveLength(1);
});

it('--export: nothing starts where the place is not reached, and --detach leaves nobody to export', async () => {
  const dir = join(folder.path, 'never');
  const begin = (...flags: string[]): Promise<Outcome> =>
    cli(['run', 'local', '--run-dir', dir, ...flags, '--', 'true']);
  const nobody = await begin('--export', `mlflow=http://127.0.0.1:${await freePort()}`);
  expectExit(nobody, 3);
  const nowhere = await begin('--export', `csv=${join(folder.path, 'no/a.csv')}`);
  expectExit(nowhere, 2);
  const detached = await begin('--detach', '--export', 'csv');
  expectExit(detached, 2);
  expect(detached.stderr).toContain('--export does not go with --detach');
  expect(existsSync(dir)).toBe(false);
});
