// A sweep by a real Slurm: each trial is a job of its own.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSlurm } from '../../scripts/practice/slurm.mjs';
import { expectExit, parseLines, until } from '../support/harness.js';
import { SlurmBench } from './bench.js';

const why = whyNoSlurm();

/** The second trial reports once it may, and ends only where it is stopped. */
const program = [
  'report() { printf \'{"step":%s,"acc":%s}\\n\' "$1" "$2" >> "$TRAINYARD_RUN_DIR/metrics.jsonl"; }',
  'if [ "$1" = 0.1 ]; then until [ -e "$2/go" ]; do sleep 0.1; done; fi',
  'report 10 "$1"',
  'if [ "$1" = 0.1 ]; then sleep 1000; fi',
  'report 30 "$1"',
  'echo "$1" >> "$2/ended"',
].join('\n');

describe.skipIf(why)(`A sweep${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let folder: string;

  beforeAll(async () => {
    bench = await SlurmBench.start();
    folder = join(bench.slurm.login.nodes[0]?.home ?? '', 'sweep');
    mkdirSync(folder);
    writeFileSync(join(folder, 'program.sh'), program);
  });
  afterAll(() => bench.stop());

  const jobs = (): string[] => bench.slurm.ask('squeue', '-h', '-o', '%i').split('\n').filter(Boolean);
  const noJob = (): boolean => jobs().length === 0;

  test('has as many jobs at once as are asked for, and cancels the one of a poor trial', async () => {
    const out = join(bench.home, 'out');
    const sweeping = bench.begin(
      ...['sweep', 'slurm', '--out', out, '--name', 'rates', '--grid', 'lr=0.5,0.1,0.7'],
      ...['--metric', 'acc', '--prune', '10', '--runs-at-once', '2', '--time-limit', '10m', '--json'],
      ...['--', 'sh', join(folder, 'program.sh'), '{lr}', folder],
    );
    const record = join(out, 'sweep.json');
    const kept = (): { trials: { marks?: number[] }[] } =>
      JSON.parse(readFileSync(record, 'utf8')) as ReturnType<typeof kept>;
    const isCompared = (): boolean => existsSync(record) && kept().trials[0]?.marks?.[0] === 0.5;
    await until('the first trial to be compared', isCompared, 60);
    writeFileSync(join(folder, 'go'), '');
    const made = await sweeping.ended;
    expectExit(made, 0);
    const records = parseLines(made.stdout);
    const trials = records.filter(({ type }) => type === 'sweep-trial');
    expect(trials.map(({ number, status, best }) => [number, status, best])).toEqual([
      [3, 'finished', 0.7],
      [1, 'finished', 0.5],
      [2, 'pruned', 0.1],
    ]);
    expect(records.at(-1)).toMatchObject({ best: 3, finished: 2, pruned: 1 });
    expect(readFileSync(join(folder, 'ended'), 'utf8')).toBe('0.5\n0.7\n');
    await until('no job to be left', noJob);
  });

  test('that is detached has all its jobs in the queue, and is followed or stopped later', async () => {
    const go = join(folder, 'go-on');
    const wait = ['--', 'sh', '-c', `until [ -e '${go}' ]; do sleep 0.1; done`, '{n}'];
    const begin = async (name: string): Promise<string> => {
      const out = join(bench.home, name);
      const words = ['--detach', '--out', out, '--name', name, '--grid', 'n=1,2,3', ...wait];
      const begun = await bench.trainyard('sweep', 'slurm', ...words);
      expectExit(begun, 0);
      expect(begun.stdout).toContain('3 trials of 3 go on without this command');
      expect(jobs()).toHaveLength(3);
      return out;
    };
    const stopped = await begin('stopped');
    expectExit(await bench.trainyard('sweep', '--stop', stopped), 0);
    await until('its jobs to be gone', noJob);
    const followed = await begin('followed');
    writeFileSync(go, '');
    const ended = await bench.trainyard('sweep', '--resume', followed);
    expectExit(ended, 0);
    expect(ended.stderr).toContain('3 of 3 trials finished.');
    await until('no job to be left', noJob);
  });
});
