// The proof for machines with a GPU, rehearsed where there is none: everything is built and run but
// the device itself.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/harness.js';

const folder = temporaryFolder('gpu-proof');
afterAll(folder.remove);

const root = join(__dirname, '..', '..', '..');
interface Part {
  part: string;
  ok: boolean;
  why_not?: string;
  results?: { what: string; verdict: string }[];
}

describe('gpu-proof', () => {
  it('--device cpu builds everything, holds, and writes its report', () => {
    const done = spawnSync(
      'python3',
      [join(root, 'scripts/gpu/proof.py'), '--device', 'cpu', '--out', folder.path],
      { encoding: 'utf8' },
    );
    expect(done.status, done.stdout + done.stderr).toBe(0);
    const report = JSON.parse(readFileSync(join(folder.path, 'gpu-proof.json'), 'utf8')) as {
      ok: boolean;
      parts: Part[];
    };
    expect(report.ok).toBe(true);
    const ops = report.parts.find((part) => part.part === 'ops')?.results ?? [];
    expect(ops.length).toBeGreaterThan(70);
    for (const op of ['conv2d', 'batch norm', 'max pool', 'linear', 'softmax', 'shortcut', 'add', 'input'])
      expect(ops.some(({ what, verdict }) => what.startsWith(op) && verdict === 'ok')).toBe(true);
    const table = readFileSync(join(folder.path, 'gpu-proof.md'), 'utf8');
    // What only a GPU, or PyTorch, can show says why it was not shown; everything else was.
    const shown = report.parts.filter((part) => part.why_not === undefined);
    for (const { part } of shown) expect(table).toContain(`| ${part} | ok |`);
    const names = shown.map(({ part }) => part);
    for (const name of [
      'collectives',
      'jpeg-decoder',
      'networks',
      'optimizers',
      'resume',
      'two-processes',
      'repeats',
      'recorded',
    ])
      expect(names).toContain(name);
    const hidden = report.parts.filter((part) => part.why_not !== undefined).map(({ part }) => part);
    const allowed = [
      'PyTorch',
      'recordings of nvidia-smi and NVML',
      "recording of the GPU's properties",
      'ops under compute-sanitizer',
    ];
    expect(allowed).toEqual(expect.arrayContaining(hidden));
  }, 600_000);

  it('bench:gpu measures what was built, and is never exit 0 without a GPU', () => {
    const bench = (...words: string[]): ReturnType<typeof spawnSync> =>
      spawnSync('python3', [join(root, 'scripts/bench/gpu.py'), '--out', folder.path, ...words], {
        encoding: 'utf8',
        env: { ...process.env, CUDA_VISIBLE_DEVICES: '' },
      });
    const done = bench('--device', 'cpu', '--modes');
    expect(done.status, String(done.stdout) + String(done.stderr)).toBe(0);
    const { rows } = JSON.parse(readFileSync(join(folder.path, 'bench-gpu.json'), 'utf8')) as {
      rows: { program: string; images_per_sec: number }[];
    };
    expect(rows.map(({ program }) => program)).toEqual(['trainyard']);
    expect(rows[0]?.images_per_sec).toBeGreaterThan(0);
    const real = spawnSync('nvidia-smi', ['-L']);
    if (real.status === 0) return;
    const refused = bench();
    expect(refused.status).toBe(4);
    expect(String(refused.stderr)).toContain('there is no NVIDIA GPU here');
  }, 300_000);

  it('a part that fails says why and ends with 1', () => {
    const done = spawnSync(join(folder.path, 'proof'), ['devices', 'cuda'], {
      encoding: 'utf8',
      env: { ...process.env, TRAINYARD_CUDA_LIBRARY: '/nowhere/libtrainer_cuda.so' },
    });
    expect(done.status).toBe(1);
    expect(done.stdout).toContain('error\tthere is no CUDA back end: libtrainer_cuda.so was looked for');
  });
});
