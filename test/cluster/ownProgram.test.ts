// A node with GPUs but no driver: what a proposed training computes on there, and programs that are
// not our trainer. The GPUs are those of a stand-in for NVIDIA's libnvidia-ml.so.1, which the
// native tests build.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { RunFile } from '../../src/core/contracts/runSchema.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { proposedModels, proposeTraining } from '../../src/core/plan/proposal.js';
import { findNativeSources, readCudaLibrary } from '../../src/core/setup/sources.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { startRun, untilOver } from './support/runs.js';

const standIn = join(import.meta.dirname, '../../build/native/release/tests/agent/nvml');
const built = existsSync(join(standIn, 'libnvidia-ml.so.1'));

describe.skipIf(!built)('a node with two GPUs (needs node scripts/native/native.mjs build)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-gpus-'));
  const script = join(dir, 'nvml');
  let hosts: FaultHosts;
  let machine: SshMachine;
  let profile: Profile;
  let hasLibrary: boolean;

  beforeAll(async () => {
    writeFileSync(script, 'gpus 2\n');
    const environment = {
      LD_LIBRARY_PATH: standIn,
      NVML_STAND_IN: script,
      TRAINYARD_GPU_LOCKS: join(dir, 'locks'),
    };
    hosts = await practiceHosts({ nodes: 1, environments: [environment] });
    const [host] = hosts.profile.hosts ?? [];
    profile = { ...hosts.profile, hosts: [{ host: '', ...host, slots: 2 }] };
    machine = hosts.machine(profile);
    const sources = await findNativeSources(join(import.meta.dirname, '../../dist'));
    hasLibrary = (await readCudaLibrary(sources, 13)) !== undefined;
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const deviceOf = async (words: readonly string[]): Promise<RunFile['device']> => {
    const dir = await startRun(machine, profile, words);
    const { run, state } = await untilOver(machine, dir);
    expect(state).toMatchObject({ phase: 'finished' });
    return run?.device;
  };

  test('a training that is proposed there takes what there is, and its record says why', async () => {
    const names = proposedModels.map(({ label }) => label);
    expect(names).toEqual([...new Set(names)]);
    const short = ['--steps', '2', '--threads', '1'];
    const words = [...proposeTraining('mlp', ['--data', 'synthetic']).slice(0, 5), ...short];
    expect(words).not.toContain('--device');
    const host = profile.hosts?.[0]?.host ?? '';
    expect(await deviceOf(words)).toEqual({
      asked: 'auto',
      used: 'cpu',
      why: hasLibrary
        ? `${host}: there is no NVIDIA driver`
        : 'this build of Trainyard has no CUDA back end (libtrainer_cuda.so)',
    });
    writeFileSync(script, 'gpus 0\n');
    expect(await deviceOf(words)).toEqual({ asked: 'auto', used: 'cpu', why: `no GPU on ${host}` });
    const cuda = startRun(machine, profile, [...words, '--device', 'cuda']);
    await expect(cuda).rejects.toMatchObject({ code: 'preflight' });
    await expect(cuda).rejects.toThrow(/has a free GPU/);
    writeFileSync(script, 'gpus 2\n');
  });

  test('a program with --device cuda and a word like ours runs once, without our back end', async () => {
    const seen = join(dir, 'seen');
    const words = ['sh', '-c', `echo "$@ $CUDA_VISIBLE_DEVICES" >> ${seen}`, 'train', 'bench'];
    const run = await startRun(machine, profile, [...words, '--device', 'cuda']);
    const { state } = await untilOver(machine, run);
    expect(state).toMatchObject({ phase: 'finished', world: 1 });
    expect(readFileSync(seen, 'utf8')).toBe('bench --device cuda 0\n');
    expect(existsSync(join(hosts.homes[0] ?? '', '.trainyard', 'cuda'))).toBe(false);
  });
});
