// A node with GPUs: what the editor proposes there, and programs that are not our trainer. The GPUs
// are those of a stand-in for NVIDIA's libnvidia-ml.so.1, which the native tests build.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { proposedModels, proposeTraining } from '../../src/core/plan/proposal.js';
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

  beforeAll(async () => {
    writeFileSync(script, 'gpus 2\n');
    const environment = { LD_LIBRARY_PATH: standIn, NVML_STAND_IN: script };
    hosts = await practiceHosts({ nodes: 1, environments: [environment] });
    const [host] = hosts.profile.hosts ?? [];
    profile = { ...hosts.profile, hosts: [{ host: '', ...host, slots: 2 }] };
    machine = hosts.machine(profile);
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test('a training that is proposed there takes its GPUs', async () => {
    const data = ['--data', 'synthetic'];
    expect((await proposeTraining(machine, 'resnet50', data)).slice(-2)).toEqual(['--device', 'cuda']);
    writeFileSync(script, 'gpus 0\n');
    expect(await proposeTraining(machine, 'resnet50', data)).not.toContain('--device');
    writeFileSync(script, 'gpus 2\n');
    const names = proposedModels.map(({ label }) => label);
    expect(names).toEqual([...new Set(names)]);
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
