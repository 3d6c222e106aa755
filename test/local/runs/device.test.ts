// What a training on this machine computes on, said in the first line, in the record and by the
// exit code.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFileSchema, type DeviceChoice } from '../../../src/core/contracts/runSchema.js';
import {
  expectExit,
  processesNaming,
  runCli,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('device');
const standIn = join(import.meta.dirname, '../../../build/native/release/tests/agent/nvml');

beforeAll(async () => {
  expectExit(await runCli(['runtime']), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

const short = ['train', '--model', 'mlp', '--data', 'synthetic', '--steps', '3', '--batch-size', '4'];
const train = (dir: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  runCli(['run', 'local', '--ranks', '1', '--run-dir', join(folder.path, dir), '--', ...short, ...words], {
    env: { ...process.env, ...env },
  });
const record = (dir: string): { argv: string[]; device?: DeviceChoice | undefined } =>
  runFileSchema.parse(JSON.parse(readFileSync(join(folder.path, dir, 'run.json'), 'utf8')));
const firstLine = ({ stdout }: Outcome): string => stdout.split('\n')[0] ?? '';

describe('a training on a machine whose GPUs are scripted', () => {
  const script = join(folder.path, 'nvml');
  const gpus = {
    LD_LIBRARY_PATH: standIn,
    NVML_STAND_IN: script,
    TRAINYARD_GPU_LOCKS: join(folder.path, 'locks'),
  };

  it('takes the CPU where there is no GPU, and says so first', async () => {
    writeFileSync(script, 'gpus 0\n');
    const outcome = await train('none', [], gpus);
    expectExit(outcome, 0);
    expect(firstLine(outcome)).toMatch(/^device +cpu \(auto: no GPU on \S+\)$/);
    const { argv, device } = record('none');
    expect(argv.slice(-2)).toEqual(['--device', 'cpu']);
    expect(device).toMatchObject({ asked: 'auto', used: 'cpu' });
  });

  it('goes on with the device that it had', async () => {
    writeFileSync(script, 'gpus 2\n');
    const outcome = await train('none', [], gpus);
    expectExit(outcome, 0);
    expect(firstLine(outcome)).toMatch(/^device +cpu \(auto: the earlier run in this folder used it\)$/);
  });

  it.skipIf(!existsSync(join(standIn, 'libnvidia-ml.so.1')) || existsSync('/dev/nvidiactl'))(
    'takes the CPU where the trainer cannot use the GPUs, with its reason',
    async () => {
      writeFileSync(script, 'gpus 2\n');
      expectExit(await train('unusable', [], gpus), 0);
      const { device } = record('unusable');
      expect(device).toMatchObject({ asked: 'auto', used: 'cpu' });
      expect(device?.why).toMatch(/libtrainer_cuda\.so|CUDA|cuda/);
      writeFileSync(script, 'gpus 2\nprocess 0 4242 1000\nprocess 1 4243 1000\n');
      expectExit(await train('busy', [], gpus), 0);
      expect(record('busy').device?.why).toMatch(/^no free GPU on \S+: GPU 0 is taken by process 4242/);
    },
  );

  it('is refused where a GPU is asked for that is not there', async () => {
    writeFileSync(script, 'gpus 0\n');
    const outcome = await train('refused', ['--device', 'cuda'], gpus);
    expectExit(outcome, 4);
    expect(outcome.stderr).toMatch(/has a free GPU.*--device cpu/);
    expect(existsSync(join(folder.path, 'refused'))).toBe(false);
  });

  it('is refused where the device is none, or is said twice', async () => {
    const unknown = await train('refused', ['--device', 'gpu']);
    expectExit(unknown, 2);
    expect(unknown.stderr).toContain('the device must be auto, cpu or cuda, not "gpu"');
    const twice = await train('refused', ['--device', 'cpu', '--device', 'cuda']);
    expectExit(twice, 2);
    expect(twice.stderr).toContain('--device is given 2 times');
  });

  it('takes what is asked for', async () => {
    const outcome = await train('asked', ['--device', 'cpu']);
    expectExit(outcome, 0);
    expect(firstLine(outcome)).toBe('device  cpu (it was asked for)');
  });
});
