// Which build of the CUDA back end a run by Slurm gets: by the drivers that jobs noted of their
// nodes. The driver is a line in each compute node's own /proc, a GPU a file, and NCCL for CUDA 13
// a library of one function. The back end and NVIDIA's other libraries are the real ones.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSlurm } from '../../scripts/practice/slurm.mjs';
import { makeNccl } from '../support/fakeNccl.js';
import { root } from '../../scripts/lib/paths.mjs';
import { expectExit } from '../support/harness.js';
import { SlurmBench } from './bench.js';

const why = whyNoSlurm() ?? (existsSync('/proc/driver') ? undefined : 'needs /proc/driver');
const driver = '535.104.05';
const library = (build: string): string =>
  join(root, 'build/native/release/node', build, 'libtrainer_cuda.so');
const toolkit = (build: string, parts: readonly string[]): string[] =>
  parts.map((part) => join(root, 'build', build, part, 'lib'));
const folders = [...toolkit('cuda', ['cu13', 'cudnn']), ...toolkit('cuda12', ['cu12', 'cudnn', 'nccl'])];
const hasBuilds = [...folders, library('cuda'), library('cuda12')].every((path) => existsSync(path));

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

describe.skipIf(why)(`Drivers of compute nodes${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let nccl = '';

  beforeAll(async () => {
    nccl = mkdtempSync(join(tmpdir(), 'trainyard-nccl-'));
    makeNccl(nccl);
    const gpus = { partition: 'work', time: '10:00', gpusPerNode: 1 };
    const profiles = {
      gpus: { slurm: gpus },
      urgent: { slurm: { ...gpus, partition: 'urgent' } },
      thirteen: { slurm: { ...gpus, cuda: 13 } },
    };
    const environment = { TRAINYARD_NVIDIA_LIBRARIES: [...folders, nccl].join(':') };
    bench = await SlurmBench.start(profiles, { driver, environment });
  });
  afterAll(async () => {
    await bench.stop();
    rmSync(nccl, { recursive: true });
  });

  async function driverRow(profile: string): Promise<string> {
    const outcome = await bench.trainyard('check', profile);
    expectExit(outcome, 0);
    return /^driver .*$/m.exec(outcome.stdout)?.[0] ?? outcome.stdout;
  }

  const onGpus = ['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--steps', '1', '--device', 'cuda'];
  const runOf = (label: string): { paths: { trainer: string }; slurm: { oldestDriver: number } } =>
    JSON.parse(readFileSync(join(bench.folderOf(label), 'run.json'), 'utf8')) as ReturnType<typeof runOf>;
  /** Of the CUDA back end that a run's trainer has beside it. */
  const buildOf = (label: string): string =>
    sha256(join(dirname(runOf(label).paths.trainer), '../cuda/libtrainer_cuda.so'));

  test('are noted by each job that has GPUs, and choose the build of the next', async () => {
    expect(await driverRow('gpus')).toContain(
      "compute nodes: CUDA 12's build, since no job has noted the drivers of the nodes of partition work yet",
    );
    const words = ['--nodes', '2', '--ranks', '2', '--name', 'own', '--', 'true'];
    expectExit(await bench.trainyard('run', 'gpus', ...words), 0);
    for (const node of ['n1', 'n2']) {
      const file = join(dirname(bench.runs), 'slurm-drivers/work', `${node}.json`);
      const note = JSON.parse(readFileSync(file, 'utf8')) as object;
      expect(note).toMatchObject({ node, driver, gpus: expect.any(Array) as unknown });
    }
    expect(await driverRow('gpus')).toMatch(
      /compute nodes: CUDA 12's build, since on n[12] driver 535\.104\.05 is older than 580/,
    );
    expect(await driverRow('urgent')).toContain('no job has noted');
  });

  test.skipIf(!hasBuilds)('a training gets that build', async () => {
    // It finds no GPU there, and says so.
    const outcome = await bench.trainyard('run', 'gpus', '--name', 'twelve', ...onGpus);
    expectExit(outcome, 5);
    expect(buildOf('twelve')).toBe(sha256(library('cuda12')));
    expect(runOf('twelve').slurm.oldestDriver).toBe(525);
  });

  test.skipIf(!hasBuilds)('a build that no driver there runs is refused before the run begins', async () => {
    const outcome = await bench.trainyard('run', 'thirteen', '--name', 'refused', ...onGpus);
    expectExit(outcome, 5);
    expect(outcome.stdout + outcome.stderr).toMatch(
      /needs NVIDIA's driver 580 or newer, and n[12] has 535\.104\.05\. The drivers are noted/,
    );
    expect(buildOf('refused')).toBe(sha256(library('cuda')));
  });
});
