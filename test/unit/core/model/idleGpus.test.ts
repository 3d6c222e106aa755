import { describe, expect, it } from 'vitest';
import type { RunFile, RunState } from '../../../../src/core/contracts/runSchema.js';
import { GpuUse, gpusHeldBy, idleGpusOf } from '../../../../src/core/model/hosts/idleGpus.js';
import { gpuSample } from '../../support/hostSamples.js';

const begun = 1_795_258_500;
type Utilization = readonly (number | null)[];

/** A line each second, as the agent writes them. */
function useOf(spans: readonly { seconds: number; of: Utilization; missing?: boolean }[]): GpuUse {
  const use = new GpuUse();
  let time = begun;
  for (const { seconds, of, missing = false } of spans) {
    const lacks = { what: 'gpus' as const, since: time, reason: 'no answer' };
    for (const end = time + seconds; time < end; time++) {
      use.add(gpuSample(time, of, missing ? { missing: [lacks] } : {}));
    }
  }
  return use;
}

const ofRun = (fields: Partial<RunFile>, updated: number, started = begun) => ({
  run: fields as RunFile,
  state: { started, updated: begun + updated } as RunState,
});
const four = { gpus: [0, 1, 2, 3] };
const found = (use: GpuUse, updated: number, fields: Partial<RunFile> = four, began?: number) =>
  idleGpusOf(ofRun(fields, updated), new Map([['gpu1', use]]), began);

describe('idle GPUs of a run', () => {
  it('are those that did nothing in any line of a quarter of an hour', () => {
    const use = useOf([{ seconds: 905, of: [97, 4, 0, 99] }]);
    expect(found(use, 905)).toEqual({ idle: 2, all: 4, seconds: 904 });
    expect(found(use, 905, { gpus: [0, 3] })).toBeUndefined();
    expect(found(use, 905, { gpus: [1] })).toEqual({ idle: 1, all: 1, seconds: 904 });
    expect(found(useOf([{ seconds: 890, of: [97, 0, 0, 99] }]), 890)).toBeUndefined();
    const once = [
      { seconds: 600, of: [0] },
      { seconds: 1, of: [5] },
      { seconds: 600, of: [0] },
    ];
    expect(found(useOf(once), 1201, { gpus: [0] })).toBeUndefined();
  });

  it('are none where their figures are missing, old or of a time before the ranks began', () => {
    const idle = { seconds: 950, of: [0] };
    const one = { gpus: [0] };
    expect(found(useOf([idle]), 950, one)).toBeDefined();
    expect(found(useOf([{ seconds: 950, of: [null] }]), 950, one)).toBeUndefined();
    expect(found(useOf([{ ...idle, missing: true }]), 950, one)).toBeUndefined();
    expect(
      found(
        useOf([
          { ...idle, missing: true },
          { seconds: 60, of: [0] },
        ]),
        1010,
        one,
      ),
    ).toBeUndefined();
    expect(found(useOf([idle]), 1500, one)).toBeUndefined();
    expect(found(useOf([idle]), 950, one, begun + 300)).toBeUndefined();
    const hole = useOf([{ seconds: 500, of: [0] }]);
    for (let time = begun + 900; time < begun + 1400; time++) hole.add(gpuSample(time, [0]));
    expect(found(hole, 1400, one)).toBeUndefined();
    expect(found(new GpuUse(), 1, one)).toBeUndefined();
    expect(idleGpusOf({ run: null, state: null }, new Map(), undefined)).toBeUndefined();
  });

  it('are counted over all hosts of a run, without spare ones and GPUs of others', () => {
    const node = { address: 'a', slots: 2 };
    const nodes = [
      { ...node, host: 'gpu1', gpus: [0, 1] },
      { ...node, host: 'gpu2', gpus: [3] },
      { ...node, host: 'gpu3', gpus: null },
      { ...node, host: 'gpu4', gpus: [0], spare: true as const },
    ];
    const busy = useOf([{ seconds: 1000, of: [90, 90, 0, 0] }]);
    const half = useOf([{ seconds: 1000, of: [90, 90, 90, 0] }]);
    const use = new Map([
      ['gpu1', busy],
      ['gpu2', half],
      ['gpu4', useOf([{ seconds: 1000, of: [0] }])],
    ]);
    expect(idleGpusOf(ofRun({ nodes }, 1000), use, undefined)).toEqual({ idle: 1, all: 3, seconds: 999 });
    expect(gpusHeldBy({ gpus: null } as RunFile)).toEqual([]);
  });
});
