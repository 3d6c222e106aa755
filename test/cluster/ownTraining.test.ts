// Programs of others on a practice cluster of three nodes: PyTorch's DDP by a process for each slot
// and by torchrun, mpi4py, and TensorFlow's roles. One rank is killed; the program starts anew from
// its own checkpoint.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptTorchPython } from '../../scripts/bench/support/torch.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import type { NodePath } from '../../src/core/base/nodePath.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { requestOf, type TypedRun } from '../../src/core/plan/request/request.js';
import { readLines, until } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { eventsOf, untilOver } from './support/runs.js';

const programs = join(import.meta.dirname, 'support/programs');
const torch = keptTorchPython();

describe('own programs on three nodes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-own-'));
  const mpiPython = join(dir, 'mpi/bin/python');
  let hosts: FaultHosts;
  let profile: Profile;

  beforeAll(async () => {
    hosts = await practiceHosts({ nodes: 3 });
    profile = { ...hosts.profile, maxRestarts: 2, stopGrace: 10 };
    const list = (profile.hosts ?? []).map((host) => ({ ...host, slots: 1 }));
    // PyTorch's writer of event files takes TensorBoard's package, which its own environment lacks.
    const { python } = await hosts.machine().runtime();
    const where = 'import os, tensorboard; print(os.path.dirname(os.path.dirname(tensorboard.__file__)))';
    const packages = execFileSync(python, ['-c', where], { encoding: 'utf8' }).trim();
    profile = { ...profile, hosts: list, env: { PYTHONPATH: packages } };
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const start = async (words: string[], more: Partial<TypedRun>): Promise<NodePath> => {
    const used = more.profile ?? profile;
    const request = requestOf({ profile: used, words, cwd: '/', ...more });
    return (await hosts.machine(used).start(request)).dir;
  };
  const log = (run: NodePath, rank: number): string => {
    const path = join(run, `logs/rank-${rank}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };

  /** One process is killed in its first generation, after its program wrote a checkpoint. */
  const killedOnce = async (words: string[], per: 'slot' | 'node', name: string): Promise<NodePath> => {
    mkdirSync(join(dir, name));
    const checkpoint = join(dir, name, 'checkpoint');
    const run = await start([...words, checkpoint, '120'], { per });
    await until(`a checkpoint of ${name}`, () => existsSync(checkpoint), 90);
    const pid = await until(
      `rank 1 of ${name}`,
      () => /rank 1 of 3 pid (\d+)/.exec([0, 1, 2].map((rank) => log(run, rank)).join(''))?.[1],
      30,
    );
    process.kill(Number(pid), 'SIGKILL');
    const { state } = await untilOver(hosts.machine(profile), run, 120);
    const said = [0, 1, 2].map((rank) => log(run, rank)).join('');
    expect(state, said).toMatchObject({ phase: 'finished', exitCode: 0, generation: 2, world: 3 });
    expect(eventsOf(run).some(({ kind }) => kind === 'restarting')).toBe(true);
    const begun = [...said.matchAll(/rank 0 of 3 pid \d+ from (\d+)/g)].map((found) => Number(found[1]));
    expect(begun[0]).toBe(0);
    expect(begun[1]).toBeGreaterThan(0);
    expect(said.match(/^done 120$/gm)).toHaveLength(3);
    return run;
  };

  /** Its writer's event files, of both generations, are the figures that the dashboard draws. */
  const trained = async (words: string[], per: 'slot' | 'node', name: string): Promise<void> => {
    const run = await killedOnce(words, per, name);
    const figures = await until(
      `the last step of ${name}`,
      () => {
        const lines = readLines(join(run, 'figures.jsonl')).filter(({ step }) => typeof step === 'number');
        return lines.some(({ step }) => step === 120) ? lines : undefined;
      },
      30,
    );
    for (const tag of ['loss/train', 'speed/images_per_sec']) {
      const steps = new Set(figures.filter((line) => line['tag'] === tag).map(({ step }) => step));
      expect(steps.size, tag).toBe(120);
    }
  };

  const why = torch === undefined ? ' (skipped: npm run bench:cpu has not made the PyTorch environment)' : '';
  test.skipIf(torch === undefined)(
    `DDP by a process for each slot goes on after a kill${why}`,
    () => trained([torch ?? '', join(programs, 'ddp.py')], 'slot', 'ddp'),
    240_000,
  );
  test.skipIf(torch === undefined)(
    `torchrun, one for each node and without flags, goes on after a kill${why}`,
    () => trained([join(torch ?? '', '../torchrun'), join(programs, 'ddp.py')], 'node', 'torchrun'),
    240_000,
  );

  test('mpi4py goes on after a kill', async () => {
    execFileSync('python3', ['-m', 'venv', join(dir, 'mpi')]);
    const pinned = join(root, 'scripts/requirements/mpi4py.txt');
    execFileSync(mpiPython, ['-m', 'pip', 'install', '-q', '--require-hashes', '--no-deps', '-r', pinned]);
    await trained([mpiPython, join(programs, 'sum.py')], 'slot', 'mpi4py');
  }, 240_000);

  test('chief, worker and ps find one another in TF_CONFIG', async () => {
    const tasks = [['chief:2222'], ['worker:2223'], ['ps']];
    const list = (profile.hosts ?? []).map((host, index) => ({ ...host, tasks: tasks[index] ?? [] }));
    const run = await start(['printenv', 'TF_CONFIG'], { per: 'slot', profile: { ...profile, hosts: list } });
    const { state } = await untilOver(hosts.machine(profile), run);
    expect(state).toMatchObject({ phase: 'finished' });
    const [a, b, c] = list.map(({ address, host }) => address ?? host);
    const configs = [0, 1, 2].map(
      (rank) => JSON.parse(log(run, rank)) as { cluster: unknown; task: unknown },
    );
    expect(configs.map(({ task }) => task)).toEqual([
      { type: 'chief', index: 0 },
      { type: 'worker', index: 0 },
      { type: 'ps', index: 0 },
    ]);
    for (const { cluster } of configs) {
      expect(cluster).toEqual({
        chief: [`${a ?? ''}:2222`],
        worker: [`${b ?? ''}:2223`],
        ps: [expect.stringMatching(new RegExp(`^${c ?? ''}:47\\d{3}$`)) as string],
      });
    }
  }, 60_000);
});
