// The partitions of a real Slurm, listed with what is free of them, and profiles of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSlurm } from '../../scripts/practice/slurm.mjs';
import { expectExit, until } from '../support/harness.js';
import { SlurmBench } from './bench.js';

const why = whyNoSlurm();

describe.skipIf(why)(`A cluster's partitions${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  /** The profile says by which key one logs in. */
  const login = 'slurm';

  beforeAll(async () => {
    bench = await SlurmBench.start();
  });
  afterAll(() => bench.stop());

  test('are listed with their idle nodes and free GPUs, and one becomes a profile', async () => {
    const idle = await bench.trainyard('import', '--slurm', login);
    expectExit(idle, 0);
    expect(idle.stdout).toMatch(/work \(default\) +2 of 2 nodes idle; 4 of 4 GPUs free; at most 60 min\n/);
    const words = ['--parsable', '--gres=gpu:1', '-o', '/dev/null', '--wrap', 'sleep 300'];
    const job = bench.slurm.ask('sbatch', ...words).trim();
    await until('the job', () => bench.slurm.ask('squeue', '-h', '-o', '%T').includes('RUNNING'));
    const busy = await bench.trainyard('import', '--slurm', login, '--json');
    expectExit(busy, 0);
    const lines = busy.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { type: 'partition', name: 'work', idleNodes: 1, nodes: 2, gpus: [{ total: 4, free: 3 }] },
      { type: 'partition', name: 'urgent', isDefault: false, gpusPerNode: 2 },
    ]);
    bench.slurm.ask('scancel', job);
    const host = bench.slurm.login.profile.hosts[0]?.host;
    const made = await bench.trainyard('import', '--slurm', login, '--partition', 'urgent', '--name', 'hpc');
    expectExit(made, 0);
    expect(made.stdout).toBe(`hpc: partition urgent of ${host}\n`);
    const saved = JSON.parse(readFileSync(join(bench.home, 'profiles.json'), 'utf8')) as {
      profiles: object[];
    };
    expect(saved.profiles.at(-1)).toMatchObject({
      ...{ name: 'hpc', kind: 'slurm', slurm: { partition: 'urgent', gpusPerNode: 2 } },
    });
    expectExit(await bench.trainyard('import', '--slurm', login, '--name', 'hpc'), 2);
  });

  test.each([
    [['--partition', 'none', '--name', 'x'], 'Slurm has no partition none. Name one of its partitions'],
    [['--partition', 'work'], '--name is missing'],
    [['hostfile', '--name', 'x'], '--slurm was given together with hostfile'],
  ])('%j is refused, and saves nothing', async (words, said) => {
    const outcome = await bench.trainyard('import', '--slurm', login, ...words);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain(said);
  });
});
