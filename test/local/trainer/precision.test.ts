// bf16 beside fp32 on the command line: checkpoints are the same kind of file, and what does not
// work says where it does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  lastOnly,
  readLines,
  readTensors,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('precision');
afterAll(folder.remove);

const train = (name: string, ...flags: string[]): string[] =>
  lastOnly([
    'train',
    '--model',
    'resnet20',
    '--data',
    'synthetic:4x16',
    '--image-size',
    '16',
    '--batch-size',
    '8',
    '--run-dir',
    join(folder.path, name),
    ...flags,
  ]);
const checkpoint = (name: string, step: number, file: string): string =>
  join(folder.path, name, 'checkpoints', checkpointName(step), file);
const recorded = (name: string, step: number): unknown =>
  (JSON.parse(readFileSync(checkpoint(name, step, 'state.json'), 'utf8')) as { precision: unknown })
    .precision;

const hasAvx512 = readFileSync('/proc/cpuinfo', 'utf8').includes(' avx512f');
const why = hasAvx512 ? '' : ' (skipped: this processor has no AVX-512)';

describe('--precision bf16', () => {
  it.skipIf(!hasAvx512)(`resumes fp32, is resumed by it, and is recorded${why}`, async () => {
    for (const [steps, precision] of [
      [3, 'fp32'],
      [6, 'bf16'],
      [9, 'fp32'],
    ] as const) {
      expectExit(await runTrainer(train('mixed', '--steps', String(steps), '--precision', precision)), 0);
      expect(recorded('mixed', steps)).toBe(precision);
      for (const tensor of readTensors(checkpoint('mixed', steps, 'model.safetensors')).values()) {
        expect(tensor.dtype).toBe('F32');
      }
    }
    const starts = readLines(join(folder.path, 'mixed', 'metrics.jsonl')).filter(
      ({ kind }) => kind === 'start',
    );
    expect(starts.map(({ precision, resumed_from }) => [precision, resumed_from])).toEqual([
      ['fp32', null],
      ['bf16', 'step-00000003'],
      ['fp32', 'step-00000006'],
    ]);
  });

  it.skipIf(!hasAvx512)(`takes another path than fp32 from the same start${why}`, async () => {
    expectExit(await runTrainer(train('wide', '--steps', '2')), 0);
    expectExit(await runTrainer(train('narrow', '--steps', '2', '--precision', 'bf16')), 0);
    const wide = readFileSync(checkpoint('wide', 2, 'model.safetensors'));
    expect(readFileSync(checkpoint('narrow', 2, 'model.safetensors')).equals(wide)).toBe(false);
  });

  it.each([
    ['fp16', [], {}, 'is for GPUs, and not for a CPU'],
    ['tf32', [], {}, 'is for GPUs, and not for a CPU'],
    ['bf16', [], { ONEDNN_MAX_CPU_ISA: 'AVX2' }, 'needs a processor with AVX-512'],
  ])('%s %j %j is refused with exit 4', async (precision, flags, env, message) => {
    const outcome = await runTrainer(train('refused', '--precision', precision, ...flags), { env });
    expectExit(outcome, 4);
    expect(outcome.stderr).toContain(`trainer: error: --precision ${precision} ${message}`);
  });
});
