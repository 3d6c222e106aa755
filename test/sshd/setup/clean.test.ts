// The set-up program's `clean` on a disk where another host supervises a run, and while programs
// that it would remove are at work.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/harness.js';
import { askSetUp } from '../support/setUpProgram.js';

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

const clean = (all: boolean): { result?: { removed: string[] }; error?: { what: string } } =>
  askSetUp('clean', { workdir, all }) as ReturnType<typeof clean>;

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

describe('clean, where no run below the workdir is under way,', () => {
  const programs = join(workdir, 'node/0123456789abcdef/bin');
  const agent = join(programs, 'agent');
  const mpiexec = join(workdir, 'runtime/0123456789abcdef/bin/mpiexec');
  let started: ChildProcess[] = [];
  beforeEach(() => {
    rmSync(join(workdir, 'runs'), { recursive: true });
    mkdirSync(programs, { recursive: true });
    copyFileSync('/bin/sleep', agent);
  });
  afterEach(() => {
    for (const one of started) one.kill('SIGKILL');
    started = [];
  });
  async function start(command: string, words: string[], options: SpawnOptions = {}): Promise<ChildProcess> {
    const child = spawn(command, words, { stdio: 'ignore', ...options });
    started.push(child);
    await once(child, 'spawn');
    return child;
  }

  it('is refused while one of its programs is part of a run elsewhere, which it names', async () => {
    const env = { ...process.env, TRAINYARD_RUN_DIR: '/data/exp1' };
    const { pid } = await start(agent, ['60'], { env });
    expect(clean(false).error?.what).toBe(`${agent} of the run /data/exp1 is alive as process ${pid}`);
    expect(existsSync(agent)).toBe(true);
  });

  it('is refused while a program at work was only called by a name there', async () => {
    const { pid } = await start('sleep', ['60'], { argv0: mpiexec });
    expect(clean(true).error?.what).toBe(`${mpiexec} is alive as process ${pid}`);
    expect(existsSync(agent)).toBe(true);
  });

  it('waits a moment for the processes of a run that has just ended', async () => {
    await start(agent, ['2']);
    expect(clean(false).result?.removed).toContain(join(workdir, 'node'));
  });

  it('is not kept from it by what serves clients, nor by programs that stand elsewhere', async () => {
    const python = join(workdir, 'runtime/0123456789abcdef/bin/python');
    await start('python3', ['-c', 'import time; time.sleep(60)', 'tensorboard_server.py'], { argv0: python });
    writeFileSync(join(workdir, 'serve'), 'exec 3<> <(:)\nread -t 60 <&3\n');
    await start('/bin/bash', ['serve'], { argv0: agent, cwd: workdir });
    await start('sleep', ['60'], { argv0: '/elsewhere/node/0123456789abcdef/bin/agent' });
    expect(clean(false).result?.removed).toContain(join(workdir, 'node'));
  });
});
