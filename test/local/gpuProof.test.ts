// The proof for machines with a GPU, rehearsed where there is none: everything is built and run but the device itself.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './harness';

const folder = temporaryFolder('gpu-proof');
afterAll(folder.remove);

const root = join(__dirname, '..', '..');
interface Part {
  part: string;
  ok: boolean;
  results?: { what: string; verdict: string }[];
}

describe('gpu-proof', () => {
  it('--device cpu builds everything, holds, and writes its report', () => {
    const done = spawnSync(
      'python3',
      [join(root, 'scripts/gpu_proof.py'), '--device', 'cpu', '--out', folder.path],
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
    for (const { part } of report.parts) expect(table).toContain(`| ${part} | ok |`);
  }, 600_000);

  it('a part that fails says why and ends with 1', () => {
    const done = spawnSync(join(folder.path, 'proof'), ['devices', 'cuda'], {
      encoding: 'utf8',
      env: { ...process.env, TRAINYARD_CUDA_LIBRARY: '/nowhere/libtrainer_cuda.so' },
    });
    expect(done.status).toBe(1);
    expect(done.stdout).toContain('error\tthere is no CUDA back end: libtrainer_cuda.so was looked for');
  });
});
