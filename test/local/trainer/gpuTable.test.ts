// What the table of bench:gpu says ours stands beside, made of rows by the script's own functions.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const scripts = join(import.meta.dirname, '../../../scripts/bench');

type Row = Record<string, string | number | null>;
const row = (program: string, batch: number, more: Row): Row => ({
  ...{ program, batch, precision: 'bf16', images: 'fixed', step_ms: 1, memory_mib: 2, start_seconds: 3 },
  ...more,
});
const ours = (batch: number): Row => row('trainyard', batch, { images_per_sec: 3000, recorded_graphs: 7 });
const eager = (batch: number): Row => row('PyTorch eager', batch, { images_per_sec: 2000 });
const compiled = (batch: number): Row => row('PyTorch compile', batch, { images_per_sec: 2500 });
const failed = (program: string, batch: number): Row => row(program, batch, { failure: 'no\nmemory' });

function call(name: string, argument: unknown): unknown {
  const program = `import json, sys; import gpu_table; print(json.dumps(gpu_table.${name}(json.load(sys.stdin))))`;
  const done = spawnSync('python3', ['-c', program], {
    encoding: 'utf8',
    input: JSON.stringify(argument),
    env: { ...process.env, PYTHONPATH: scripts, PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(done.status, done.stderr).toBe(0);
  return JSON.parse(done.stdout);
}

it.each([
  ['both peers', [ours(64), eager(64), compiled(64)], 'the better of both, PyTorch compile | 1.20 | 1.3'],
  [
    'a peer that failed',
    [ours(64), eager(64), failed('PyTorch compile', 64)],
    'PyTorch eager alone; PyTorch compile failed | 1.50 | none: of another peer',
  ],
  [
    'a peer that was not asked for',
    [ours(256), compiled(256)],
    'PyTorch compile alone; PyTorch eager was not measured | 1.20 | none: of another peer',
  ],
  ['the peer of a small batch', [ours(32), eager(32), compiled(32)], 'PyTorch eager | 1.50 | 1.5'],
  [
    'the other peer of a small batch',
    [ours(32), failed('PyTorch eager', 32), compiled(32)],
    'PyTorch compile alone; PyTorch eager failed | 1.20 | none: of another peer',
  ],
  [
    'no peer',
    [ours(64), failed('PyTorch eager', 64)],
    'nothing: PyTorch eager failed, PyTorch compile was not measured | |',
  ],
  ['no row of ours', [failed('trainyard', 64), eager(64)], 'nothing: trainyard failed | |'],
])('a ratio says beside which peer it stands: %s', (_, rows, expected) => {
  expect(call('ratios', rows)).toEqual([`| bf16 | ${rows[0]?.['batch'] ?? ''} | ${expected} |`]);
});

it('a row says what its images were and how many graphs a step was recorded in', () => {
  const line = (one: Row): unknown => call('line_of', one);
  expect(line(ours(64))).toBe('| bf16 | 64 | trainyard | 3000 | 1.00 | fixed | 7 | 2 | 3.0 |');
  expect(line({ ...ours(64), recorded_graphs: 0 })).toContain('| fixed | 0: op by op |');
  expect(line(eager(64))).toContain('| fixed |  | 2 |');
  expect(line(failed('PyTorch eager', 64))).toBe('| bf16 | 64 | PyTorch eager | failed: memory | | | | | |');
});

it('the report names another way that a program took, and what is missing', () => {
  const note = 'trainer: note: a step cannot be recorded here (no memory), so its ops are run one by one';
  const report = {
    ...{ date: 'today', updated: 'now', model: 'resnet50', size: 224, device: 'cuda', ours: 'a tree' },
    ...{ versions: {}, running: null, finished: false, go_on: 'python3 x --continue' },
    rows: [{ ...ours(64), notes: [note] }, eager(64)],
    left_out: ['PyTorch compile, bf16, batch 64'],
  };
  const text = String(call('markdown', report));
  expect(text).toContain(`- trainyard, bf16, batch 64: ${note}`);
  expect(text).toContain('**Not finished.**');
  expect(text).toContain('Left out: PyTorch compile, bf16, batch 64. To go on: `python3 x --continue`');
});
