// The proof for machines with a GPU, rehearsed where there is none: everything is built and run but
// the device itself, each part by a call of its own.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilerCache } from '../../scripts/native/compilerCache.mjs';
import { temporaryFolder } from '../support/harness.js';

const folder = temporaryFolder('gpu-proof');
afterAll(folder.remove);

const root = join(import.meta.dirname, '..', '..');
interface Part {
  part: string;
  ok: boolean;
  why_not?: string;
  figures?: Record<string, string>;
  results?: { what: string; verdict: string }[];
}
interface Report {
  ok: boolean;
  finished: boolean;
  not_shown: string[];
  parts: Part[];
}
interface Row {
  program: string;
  images: string;
  images_per_sec: number;
  recorded_graphs: number | null;
  failure?: string;
}

function python(script: string, ...words: string[]): ReturnType<typeof spawnSync> & { text: string } {
  const done = spawnSync('python3', [join(root, script), '--out', folder.path, ...words], {
    encoding: 'utf8',
    env: { ...process.env, CUDA_VISIBLE_DEVICES: '' },
  });
  return { ...done, text: done.stdout + done.stderr };
}
const proof = (...words: string[]): ReturnType<typeof python> =>
  python('scripts/gpu/proof.py', '--device', 'cpu', ...words);
const bench = (...words: string[]): ReturnType<typeof python> => python('scripts/bench/gpu.py', ...words);
const text = (name: string): string => readFileSync(join(folder.path, name), 'utf8');
const report = (): Report => JSON.parse(text('gpu-proof.json')) as Report;
const part = (name: string): Part | undefined => report().parts.find((one) => one.part === name);
const rows = (): Row[] => (JSON.parse(text('bench-gpu.json')) as { rows: Row[] }).rows;

/** What the built program shows of the device. */
const shown = [
  'devices',
  'ops',
  'networks',
  'precisions',
  'recorded',
  'optimizers',
  'speed',
  'repeats',
  'resume',
  'evaluation',
  'averages',
  'two-processes',
  'collectives',
  'jpeg-decoder',
  'memory-growth',
  'batch-that-fits',
  'out-of-memory',
];
/** What only a GPU, or PyTorch, can show. */
const hidden = ['kernels', 'pytorch', 'recordings', 'properties', 'memcheck', 'synccheck', 'racecheck'];
/**
 * A stand-in for CUPTI, made from NVIDIA's cupti_activity.h of CUDA 13: at each flush two runs of a
 * kernel, 2 ms each, and a copy of 8 MB to the device in 1 ms.
 */
const cupti = `
#include <cstdint>
#include <cstring>
using Request = void (*)(uint8_t**, size_t*, size_t*);
using Complete = void (*)(void*, uint32_t, uint8_t*, size_t, size_t);
static Request request;
static Complete complete;
static const size_t bytes = 160;
template <class T> static void put(uint8_t* record, size_t at, T value) { std::memcpy(record + at, &value, sizeof value); }
extern "C" int cuptiActivityRegisterCallbacks(Request r, Complete c) { request = r; complete = c; return 0; }
extern "C" int cuptiActivityEnable(int) { return 0; }
extern "C" int cuptiActivityDisable(int) { return 0; }
extern "C" int cuptiActivityFlushAll(uint32_t) {
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  request(&buffer, &size, &most);
  std::memset(buffer, 0, 3 * bytes);
  for (int i = 0; i < 3; ++i) {
    uint8_t* record = buffer + i * bytes;
    put(record, 0, i < 2 ? 10 : 1);
    put(record, 16, uint64_t{5000});
    put(record, 24, uint64_t{5000} + (i < 2 ? 2000000 : 1000000));
    if (i < 2) put(record, 104, "_Z4busyi");
    else put(record, 4, uint8_t{1}), put(record, 8, uint64_t{8000000});
  }
  complete(nullptr, 0, buffer, size, 3 * bytes);
  return 0;
}
extern "C" int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  *record = *record == nullptr ? buffer : *record + bytes;
  return *record < buffer + valid ? 0 : 12;
}
`;

const launcher = compilerCache()
  .map((word) => `'${word}'`)
  .join(' ');

describe('gpu-proof', () => {
  beforeAll(() => {
    const built = proof('--parts', 'build', '--launcher', launcher);
    expect(built.status, built.text).toBe(0);
    expect(Object.keys(part('build')?.figures ?? {})).toEqual([
      'libtrainer_cuda.so',
      'libreference.so',
      'proof',
    ]);
  }, 600_000);

  it.each(shown)(
    '--parts %s, by itself and without another build, holds',
    (name) => {
      const before = report().parts.length;
      const done = proof('--parts', name);
      expect(done.status, done.text).toBe(0);
      expect(part(name)?.ok).toBe(true);
      expect(part('build')?.figures).toEqual({ 'built before': 'for sm_80, sm_90' });
      // Beside what the calls before it showed.
      const { parts, finished, not_shown } = report();
      expect(parts).toHaveLength(before + 1);
      expect(finished).toBe(false);
      const table = text('gpu-proof.md');
      expect(table).toContain(`| ${name} | ok |`);
      expect(table).toContain(`**Not finished**`);
      expect(table).toContain(`Without: ${not_shown.join(', ')}.`);
    },
    300_000,
  );

  it('--continue shows the rest alone, and the report is finished', () => {
    const done = proof('--continue');
    expect(done.status, done.text).toBe(0);
    for (const name of shown) expect(String(done.stdout)).not.toContain(` ${name} (`);
    expect(report()).toMatchObject({ ok: true, finished: true, not_shown: [] });
    // What this machine cannot show says why.
    for (const { part: name, ok, why_not } of report().parts)
      if (!ok) expect([name, why_not]).toEqual([name, expect.stringMatching(/./)]);
    const without = report().parts.filter(({ ok }) => !ok);
    for (const { part: name } of without) expect(hidden).toContain(name);
    const ops = part('ops')?.results ?? [];
    expect(ops.length).toBeGreaterThan(70);
    for (const op of ['conv2d', 'batch norm', 'max pool', 'linear', 'softmax', 'shortcut', 'add', 'input'])
      expect(ops.some(({ what, verdict }) => what.startsWith(op) && verdict === 'ok')).toBe(true);
    expect(text('gpu-proof.md')).toContain('All parts have run: everything holds.');
  }, 300_000);

  it('four files of a build are all that another folder needs', () => {
    const copy = temporaryFolder('gpu-proof-copy');
    const words = ['--device', 'cpu', '--out', copy.path, '--parts', 'jpeg-decoder'];
    try {
      for (const name of ['proof', 'libreference.so', 'libtrainer_cuda.so', 'built.json'])
        copyFileSync(join(folder.path, name), join(copy.path, name));
      const done = spawnSync('python3', [join(root, 'scripts/gpu/proof.py'), ...words], { encoding: 'utf8' });
      expect(done.status, done.stdout + done.stderr).toBe(0);
      const { parts } = JSON.parse(readFileSync(join(copy.path, 'gpu-proof.json'), 'utf8')) as Report;
      expect(parts).toMatchObject([
        { part: 'build', figures: { 'built before': 'for sm_80, sm_90' } },
        { part: 'jpeg-decoder', ok: true },
      ]);
    } finally {
      copy.remove();
    }
  }, 300_000);

  it('bench:gpu measures what was built, goes on, and is never exit 0 without a GPU', () => {
    const done = bench('--device', 'cpu', '--modes');
    expect(done.status, done.text).toBe(0);
    expect(rows()).toMatchObject([{ program: 'trainyard', images: 'fixed' }]);
    expect(rows()[0]?.recorded_graphs).toBeGreaterThan(1);
    expect(rows()[0]?.images_per_sec).toBeGreaterThan(0);
    expect(text('bench-gpu.md')).toContain(`| fixed | ${rows()[0]?.recorded_graphs ?? ''} |`);
    // A peer that fails is no peer, and no success.
    const failed = bench('--device', 'cpu', '--continue', '--modes', 'eager', '--torch', 'false');
    expect(failed.status, failed.text).toBe(1);
    expect(rows().map(({ program, failure }) => [program, failure !== undefined])).toEqual([
      ['trainyard', false],
      ['PyTorch eager', true],
    ]);
    expect(text('bench-gpu.md')).toContain('nothing: PyTorch eager failed, PyTorch compile was not measured');
    // A stand-in, as CI has no PyTorch: what failed is measured again only where that is asked for.
    const torch = join(folder.path, 'torch-stand-in');
    const said = '{"images_per_sec": 5, "step_ms": 2, "images": "fixed", "first_step_at": 1}';
    writeFileSync(torch, `#!/bin/sh\necho 'W1 skipping cudagraphs' >&2\necho '${said}'\n`);
    chmodSync(torch, 0o755);
    const peer = ['--device', 'cpu', '--continue', '--modes', 'eager', '--torch', torch];
    expect(bench(...peer).status).toBe(1);
    expect(rows()[1]?.failure).toContain('ended with 1');
    const again = bench(...peer, '--again');
    expect(again.status, again.text).toBe(0);
    expect(rows()[1]).toMatchObject({ program: 'PyTorch eager', images_per_sec: 5 });
    expect(text('bench-gpu.md')).toContain(
      '| bf16 | 2 | PyTorch eager alone; PyTorch compile was not measured |',
    );
    expect(text('bench-gpu.md')).toContain('- PyTorch eager, bf16, batch 2: W1 skipping cudagraphs');
    const late = bench('--device', 'cpu', '--continue', '--batches', '3', '--modes', '--minutes', '0.01');
    expect(late.status, late.text).toBe(1);
    expect(text('bench-gpu.md')).toContain('Left out: trainyard, bf16, batch 3.');
    expect(text('bench-gpu.md')).toContain(`--device cpu --continue --batches 3 --modes --minutes 0.01`);
    if (spawnSync('nvidia-smi', ['-L']).status === 0) return;
    for (const refused of [bench(), python('scripts/gpu/proof.py')]) {
      expect(refused.status).toBe(4);
      expect(String(refused.stderr)).toContain('there is no NVIDIA GPU here');
    }
    expect(rows()).toHaveLength(2);
  }, 300_000);

  it('kernels lists what CUPTI saw of a step, and says where there is no CUPTI', () => {
    const kernels = (): string => {
      const env = { ...process.env, TRAINYARD_NVIDIA_LIBRARIES: folder.path };
      const done = spawnSync(join(folder.path, 'proof'), ['kernels', 'cpu'], { encoding: 'utf8', env });
      expect(done.status, done.stdout + done.stderr).toBe(0);
      return done.stdout;
    };
    const library = join(folder.path, 'libcupti.so.13');
    const source = join(folder.path, 'cupti.cpp');
    writeFileSync(library, 'no library');
    expect(kernels()).toMatch(/^not here\tthere is no CUPTI: |^figure\tresnet20/m);
    rmSync(library);
    writeFileSync(source, cupti);
    const made = spawnSync('g++', ['-shared', '-fPIC', '-o', library, source], { encoding: 'utf8' });
    expect(made.status, made.stderr).toBe(0);
    const seen = kernels();
    expect(seen).toContain('figure\t1. busy(int)\t4.000000 ms, 80 %, 2 launches\n');
    expect(seen).toContain('figure\t2. copy to the device\t1.000000 ms, 20 %, 1 launches, 8.000000 GB/s\n');
    expect(seen).toContain(' ms a step while CUPTI looked on, 5.000000 ms of them on the device');
  }, 60_000);

  it('a part that fails says why and ends with 1', () => {
    const done = spawnSync(join(folder.path, 'proof'), ['devices', 'cuda'], {
      encoding: 'utf8',
      env: { ...process.env, TRAINYARD_CUDA_LIBRARY: '/nowhere/libtrainer_cuda.so' },
    });
    expect(done.status).toBe(1);
    expect(done.stdout).toContain('error\tthere is no CUDA back end: libtrainer_cuda.so was looked for');
  });
});
