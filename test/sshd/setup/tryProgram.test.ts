// The set-up program's `try` of a program that does not end: as one does that asks a GPU's driver
// which hangs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../support/harness.js';
import { FreezableDisk, noFreezableDisk } from '../support/freezableDisk.js';
import { askSetUp } from '../support/setUpProgram.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-try-'));
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

interface Tried {
  code: number | null;
  output: string;
  /** Milliseconds. */
  took: number;
}
function tryProgram(argv: string[], seconds: number): Tried {
  const began = Date.now();
  const { result } = askSetUp('try', { argv, seconds });
  return { ...(result as Tried), took: Date.now() - began };
}
const says = (seconds: number): string =>
  `did not end within ${seconds} s, and was killed: a driver or a disk of this node may hang`;
const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

describe('a program that is tried', () => {
  it('and ends in time gives its code and all that it said', () => {
    const tried = tryProgram(['sh', '-c', 'echo one; echo two >&2; exit 3'], 20);
    expect(tried).toMatchObject({ code: 3, output: 'one\ntwo' });
    expect(tried.took).toBeLessThan(15_000);
  });

  it('and ignores all signals is killed with its children after its time, and named', async () => {
    const pids = join(dir, 'pids');
    const deaf = `trap '' TERM INT HUP; echo begun; sleep 600 & echo $$ $! > ${pids}; wait; sleep 600`;
    const tried = tryProgram(['env', 'A=b', 'sh', '-c', deaf], 2);
    expect(tried).toMatchObject({ code: null, output: `begun\nsh ${says(2)}` });
    expect(tried.took).toBeGreaterThan(1_900);
    expect(tried.took).toBeLessThan(15_000);
    for (const pid of readFileSync(pids, 'utf8').trim().split(' ').map(Number)) {
      await until(`the end of process ${pid}`, () => !isAlive(pid), 10);
    }
  });

  it('and whose end nobody hears of does not hold up the answer', () => {
    // It closes what it says on, or leaves that to a process of another group.
    expect(tryProgram(['sh', '-c', 'exec >&- 2>&-; sleep 600'], 1)).toMatchObject({ code: null });
    const left = tryProgram(['sh', '-c', 'setsid sleep 8 & echo begun'], 1);
    expect(left).toMatchObject({ code: 0, output: 'begun' });
    expect(left.took).toBeLessThan(6_000);
  });

  it.skipIf(noFreezableDisk)(
    `and hangs in the kernel, deaf to any signal, is not waited for (${noFreezableDisk ?? 'a disk hangs'})`,
    () => {
      const disk = new FreezableDisk(join(dir, 'image'), join(dir, 'disk'));
      mkdirSync(join(disk.path, 'sub'));
      disk.freeze();
      try {
        const path = join(disk.path, 'sub', 'file');
        const tried = tryProgram(['touch', path], 2);
        expect(tried).toMatchObject({ code: null, output: `touch ${says(2)}` });
        expect(tried.took).toBeLessThan(15_000);
        const states = execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' }).split('\n');
        expect(states.find((line) => line.endsWith(`touch ${path}`))).toMatch(/^D/);
        expect(existsSync(path)).toBe(false);
      } finally {
        disk.release();
      }
    },
  );
});
