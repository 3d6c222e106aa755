// pip as the set-up program runs it on a node, and as this machine's runtime is made. The user's
// pip.conf asks for another kind of installation, and /tmp is too small for what pip unpacks.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensurePythonRuntime } from '../../../src/core/setup/pythonRuntime.js';
import { askSetUp } from '../support/setUpProgram.js';
import { makeWheel } from '../support/wheels.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-pip-'));
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});
const wheels = join(dir, 'wheels');
const megabyte = 1_000_000;

/** Where pip finds a user's settings, by the way that names it. */
const settings = ((): [string, Record<string, string>][] => {
  const file = join(dir, 'home', '.config', 'pip', 'pip.conf');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '[global]\nuser = true\n[install]\nuser = true\n');
  return [
    ['by PIP_CONFIG_FILE', { PIP_CONFIG_FILE: file }],
    ['at home', { HOME: join(dir, 'home') }],
  ];
})();

/** The folder of a runtime that `env` has made by pip. */
function makeRuntime(name: string, requirements: string, env: Record<string, string>): string {
  const runtime = join(dir, name);
  const params = { dir: runtime, wheels, neededBytes: megabyte, requirements };
  expect(askSetUp('runtime', params, { env })).toEqual({ result: { made: true } });
  return runtime;
}

describe('pip on a node', () => {
  let runtime: string;
  let ofRuntime: string;
  let nvidia: string;
  beforeAll(() => {
    const data = 'runtime-1.0.data/data';
    const files = ['bin/mpiexec', 'lib/libmpi.so.12', 'lib/libdnnl.so.3'].map((name) => [
      `${data}/${name}`,
      10,
    ]);
    ofRuntime = makeWheel(wheels, 'runtime', Object.fromEntries(files) as Record<string, number>);
    nvidia = makeWheel(wheels, 'nvidia', { 'nvidia/nccl/lib/libnccl.so.2': 8 * megabyte });
    runtime = makeRuntime('plain', ofRuntime, {});
  });

  it('leaves nothing but what was asked for', () => {
    expect(readdirSync(runtime).filter((name) => name.startsWith('.') || name.includes('tmp'))).toEqual([]);
    expect(statSync(join(runtime, 'bin/mpiexec')).size).toBe(10);
  });

  it.each(settings)('makes the runtime where a user set "user = true" %s', (how, env) => {
    makeRuntime(`runtime ${how}`, ofRuntime, env);
  });

  it.each(settings)('makes NVIDIA\'s libraries where a user set "user = true" %s', (how, env) => {
    const target = join(dir, `nvidia ${how}`);
    const params = { dir: target, wheels, runtime, neededBytes: megabyte, requirements: nvidia };
    expect(askSetUp('cuda', params, { env })).toEqual({ result: { made: true } });
    expect(statSync(join(target, 'lib/nvidia/nccl/lib/libnccl.so.2')).size).toBe(8 * megabyte);
  });

  it.skipIf(userInfo().uid !== 0)(
    'unpacks where the space was looked at, not into a small /tmp (as root)',
    () => {
      const small = join(dir, 'small');
      mkdirSync(small);
      const mounted = 'mount -t tmpfs -o size=1m none "$TMPDIR" && exec "$@"';
      const prefix = ['unshare', '--mount', 'sh', '-c', mounted, 'sh'];
      const target = join(dir, 'nvidia');
      const params = { dir: target, wheels, runtime, neededBytes: megabyte, requirements: nvidia };
      const answer = askSetUp('cuda', params, { env: { TMPDIR: small }, prefix });
      expect(answer).toEqual({ result: { made: true } });
      expect(readdirSync(target).sort()).toEqual(['lib', 'requirements.txt']);
    },
  );

  it('makes this machine\'s runtime where a user set "user = true"', async () => {
    const requirements = join(dir, 'requirements.txt');
    writeFileSync(requirements, ofRuntime);
    const env = { ...settings[0]?.[1], PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1' };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    try {
      const made = await ensurePythonRuntime({ root: join(dir, 'own'), requirements });
      expect(statSync(join(made.dir, 'bin/mpiexec')).size).toBe(10);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
