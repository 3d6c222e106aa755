// The set-up program's `clean` on a disk where another host supervises a run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/harness.js';
import { program, pythonWords } from '../support/setUpProgram.js';

const workdir = mkdtempSync(join(tmpdir(), 'trainyard-clean-'));
const run = join(workdir, 'runs/20261122-000000-x-0000');
const [state, lock] = [join(run, 'state.json'), join(run, 'supervisor.lock')];
afterAll(() => {
  rmSync(workdir, { recursive: true, force: true });
});
beforeEach(() => {
  mkdirSync(run, { recursive: true });
  mkdirSync(join(workdir, 'node/0123456789abcdef'), { recursive: true });
  writeFileSync(lock, '');
  // As a supervisor on another host writes it, with a clock that is an hour behind.
  const supervisor = { pid: 7, startTime: 7, bootId: '00000000-1111-4222-8333-444444444444', host: 'gpu1' };
  writeFileSync(state, JSON.stringify({ phase: 'running', supervisor, updated: Date.now() / 1000 - 3600 }));
});

function clean(all: boolean): { result?: { removed: string[] }; error?: { what: string } } {
  const input = `${JSON.stringify({ op: 'clean', params: { workdir, all } })}\n`;
  const { stdout, stderr } = spawnSync('python3', pythonWords(program), { input, encoding: 'utf8' });
  const [line = ''] = stdout.split('\n');
  if (line === '') throw new Error(stderr);
  return JSON.parse(line) as ReturnType<typeof clean>;
}

describe('clean', () => {
  it.each([true, false])(
    'is refused while a run is under way on another host, and names it (runs too: %s)',
    (all) => {
      expect(clean(all).error?.what).toMatch(/is under way on gpu1/);
      expect(existsSync(state)).toBe(true);
      expect(existsSync(join(workdir, 'node'))).toBe(true);
    },
  );

  it('is refused while somebody holds the lock, however old the state', async () => {
    const old = Date.now() / 1000 - 600;
    utimesSync(state, old, old);
    const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; sleep 60'], {
      detached: true, // its group is ended with it
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let held = false;
    holder.stdout.once('data', () => (held = true));
    try {
      await until('the lock', () => held, 20);
      expect(clean(true).error?.what).toMatch(/is under way on gpu1/);
    } finally {
      process.kill(-holder.pid!, 'SIGKILL');
    }
  });

  it('removes the runs once nobody supervises them', () => {
    const old = Date.now() / 1000 - 600;
    utimesSync(state, old, old);
    expect(clean(true).result?.removed).toContain(join(workdir, 'runs'));
    expect(existsSync(run)).toBe(false);
  });
});
