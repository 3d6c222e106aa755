// The curves of a run as its own files say them, read here once more and in a simple way, to
// compare with what a tracker has.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLines, readLines, type Line } from '../support/harness.js';

/** Values in the order of their steps. */
export type Curve = [step: number, value: number][];

/** Fields that say where and when. */
const aboutTheLine = ['time', 'generation', 'step', 'rank', 'seconds'];
const groups: Readonly<Record<string, (line: Line) => string>> = {
  step: () => 'train',
  eval: () => 'eval',
  host: ({ rank }) => `rank/${String(rank)}`,
};

/**
 * By their names in a tracker. The runs of these tests repeat steps only after a restart, which
 * names the checkpoint that it went on from.
 */
export function curvesOf(dir: string): Record<string, Curve> {
  const curves = new Map<string, Map<number, number>>();
  const put = (name: string, step: number, value: number): void => {
    curves.set(name, (curves.get(name) ?? new Map<number, number>()).set(step, value));
  };
  for (const line of readLines(join(dir, 'metrics.jsonl'))) {
    if (line.kind === 'start') {
      const from = Number(/step-(\d+)$/.exec(String(line['resumed_from']))?.[1] ?? 0);
      for (const values of curves.values()) {
        for (const step of [...values.keys()]) if (step > from) values.delete(step);
      }
    }
    const group = groups[line.kind];
    if (!group) continue;
    for (const [field, value] of Object.entries(line)) {
      if (typeof value !== 'number' || aboutTheLine.includes(field)) continue;
      put(`${group(line)}/${field}`, Number(line['step']), value);
    }
  }
  for (const [name, step, value] of samplesOf(dir)) {
    if (curves.get(name)?.has(step) !== true) put(name, step, value);
  }
  return sorted([...curves].filter(([, values]) => values.size > 0));
}

const sorted = (curves: readonly (readonly [string, ReadonlyMap<number, number>])[]): Record<string, Curve> =>
  Object.fromEntries(curves.map(([name, values]) => [name, [...values].sort(([a], [b]) => a - b)]));

/** Of each 10 s the first sample stands; its step is the seconds since the run was created. */
function samplesOf(dir: string): [name: string, step: number, value: number][] {
  const { created } = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { created: number };
  const folder = join(dir, 'gpus');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  return files.flatMap((file) => {
    const host = file.replace(/\.jsonl$/, '');
    return parseLines(readFileSync(join(folder, file), 'utf8')).flatMap((sample) => {
      const step = Math.floor(Math.max(0, Number(sample['time']) - created) / 10) * 10;
      const figures = (of: object, names: readonly string[], below: string): [string, number, number][] =>
        names.flatMap((name) => {
          const value = (of as Record<string, unknown>)[name];
          return typeof value === 'number' ? [[`system/${host}/${below}${name}`, step, value]] : [];
        });
      const gpus = sample['gpus'] as { index: number }[];
      return [
        ...figures(sample, ['cpu_percent', 'memory_used'], ''),
        ...gpus.flatMap((gpu) =>
          figures(
            gpu,
            ['memory_used', 'utilization', 'temperature', 'power_watts'],
            `gpu-${String(gpu.index)}/`,
          ),
        ),
      ];
    });
  });
}

/**
 * Simulated, for no GPU is here: the `host` lines of a run that is over get what those of ranks
 * with a GPU have besides. Returns the bytes that rank 1 used at each step.
 */
export function simulateGpuMemory(dir: string): Curve {
  const file = join(dir, 'metrics.jsonl');
  const used: Curve = [];
  const lines = readLines(file).map((line) => {
    if (line.kind !== 'host') return line;
    const rank = Number(line['rank']);
    const bytes = 2 ** 30 * (rank + 1) + Number(line['step']);
    if (rank === 1) used.push([Number(line['step']), bytes]);
    return {
      ...line,
      gpu_memory_used: bytes,
      gpu_memory_peak: 2 * bytes,
      gpu_memory_free: 2 ** 36 - bytes,
    };
  });
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  return used;
}
