// GPUs of a deep check. No GPU is at hand: lines of `trainer bench matmul` stand in for what it
// would print there.
import { expect, it } from 'vitest';
import type { Tried } from '../../../../src/core/cluster/check/deepCheck.js';
import { measureGpus, type GpuNode } from '../../../../src/core/cluster/check/deepGpus.js';
import type { OfferedGpu } from '../../../../src/core/plan/placement.js';

const asked: string[] = [];

/** A node whose GPUs multiply at these TFLOP/s; undefined: the trainer fails on it. */
function node(name: string, rates: readonly (number | undefined)[], busy: readonly number[] = []): GpuNode {
  const gpus = rates.map((_, index): OfferedGpu => {
    const holder = busy.includes(index) ? 'run r' : undefined;
    return { index, uuid: `GPU-${name}-${index}`, model: 'NVIDIA H100', busy: holder };
  });
  const run = (argv: readonly string[]): Promise<Tried> => {
    asked.push(argv.join(' '));
    const at = gpus.findIndex(({ uuid }) => argv.includes(`CUDA_VISIBLE_DEVICES=${uuid ?? ''}`));
    const tflops = rates[at];
    return Promise.resolve(
      tflops === undefined
        ? { code: 1, output: 'trainer: error: cublasGemmEx failed' }
        : { code: 0, output: `a library says something\n${JSON.stringify({ kind: 'bench', tflops })}\n` },
    );
  };
  return {
    name,
    runtime: { trainer: '/t/trainer' as GpuNode['runtime']['trainer'], nvidia: ['/l'] },
    gpus,
    run,
  };
}

it('names the slow GPU of its model, and leaves those that are held alone', async () => {
  const nodes = [node('n1', [700, 690, 702, 698]), node('n2', [701, 300, 699, 5], [3])];
  const rows = await measureGpus(nodes, { NCCL_DEBUG: 'WARN' });
  expect(rows.map(({ host, detail, warning = false }) => [host, detail, warning])).toEqual([
    ['n1', 'GPU 0 700.0 TFLOP/s, GPU 1 690.0 TFLOP/s, GPU 2 702.0 TFLOP/s, GPU 3 698.0 TFLOP/s', false],
    [
      'n2',
      'GPU 0 701.0 TFLOP/s, GPU 1 300.0 TFLOP/s, GPU 2 699.0 TFLOP/s; GPU 1 is slow: most have 699.0 TFLOP/s',
      true,
    ],
  ]);
  expect(asked).toHaveLength(7);
  expect(asked[0]).toMatch(
    /^env TRAINYARD_NVIDIA_LIBRARIES=\/l NCCL_DEBUG=WARN CUDA_VISIBLE_DEVICES=GPU-n1-0 CUDA_DEVICE_ORDER=PCI_BUS_ID \/t\/trainer bench matmul --device cuda /,
  );
});

it('says of a GPU that fails what the trainer said, and of held ones that none is free', async () => {
  const rows = await measureGpus([node('n1', [undefined]), node('n2', [1], [0])], {});
  expect(rows.map(({ host, ok, detail }) => [host, ok, detail])).toEqual(
    expect.arrayContaining([
      ['n1', false, 'GPU 0 was not measured: trainer: error: cublasGemmEx failed'],
      ['n2', true, 'not measured: no GPU is free'],
    ]),
  );
});
