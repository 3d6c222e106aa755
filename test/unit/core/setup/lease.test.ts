import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { holdSweep, sweepData, writeSweep } from '../../../../src/core/measure/sweepFolder.js';
import { identity, Lease } from '../../../../src/core/setup/lease.js';
import type { Sweep } from '../../../../src/core/sweep/record.js';

const root = mkdtempSync(join(tmpdir(), 'trainyard-lease-'));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'one-'));
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});
const maker = (): string => join(folder, '.sweep.maker');
const put = (name: string): void => {
  writeFileSync(maker(), `${name} 000000000001\n`);
};
/** Waits for it for so many seconds. */
const hold = (seconds: number): Promise<Lease> =>
  Lease.hold(folder, 'sweep', { signal: AbortSignal.timeout(seconds * 1000) });

it('leaves it to a living process whose start time the system does not say', async () => {
  put((await identity()).replace(/\d+$/, '0'));
  await expect(hold(1)).rejects.toThrow('cancelled');
});

it('takes it over from a process of this machine that is gone, also where no start time is said', async () => {
  const { pid } = spawnSync('true');
  put((await identity()).replace(/\d+-\d+$/, `${pid}-0`));
  await (await hold(10)).release();
  expect(existsSync(maker())).toBe(false);
});

it.each(['of this machine', 'of another one'])(
  'takes a sleep of this machine for no silence of a maker %s',
  async (of) => {
    put(of === 'of this machine' ? await identity() : 'gpu9-0123abcd-1-1');
    let slept = 0;
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + slept);
    const holding = hold(2);
    setTimeout(() => {
      slept = 40_000;
    }, 500);
    await expect(holding).rejects.toThrow('cancelled');
  },
);

it('does not write over a sweep that another client has taken over', async () => {
  const sweep = { name: 'mine', trials: [] as unknown, metric: { name: 'loss', goal: 'min' } } as Sweep;
  const lease = await holdSweep(folder, {});
  put('gpu9-0123abcd-1-1');
  writeFileSync(join(folder, sweepData), 'theirs');
  await expect(writeSweep(folder, sweep, lease)).rejects.toThrow(
    'another Trainyard on gpu9 took over the sweep',
  );
  rmSync(maker()); // that one has ended
  await expect(writeSweep(folder, sweep, lease)).rejects.toThrow('gpu9');
  await lease.release();
  expect(readFileSync(join(folder, sweepData), 'utf8')).toBe('theirs');
});

it('does not write over a sweep that another client took over and ended meanwhile', async () => {
  const sweep = { name: 'mine', trials: [] as unknown, metric: { name: 'loss', goal: 'min' } } as Sweep;
  const lease = await holdSweep(folder, {});
  rmSync(maker());
  await expect(writeSweep(folder, sweep, lease)).rejects.toThrow(
    'another Trainyard on another machine took over',
  );
  await lease.release();
  expect(existsSync(join(folder, sweepData))).toBe(false);
});
