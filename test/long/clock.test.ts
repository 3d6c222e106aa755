// Fault 12: the clock of one node is an hour off, and is stepped while the run goes on. Nobody
// judges anybody by another's clock.
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ensureFaketime } from '../../scripts/test/faketime.mjs';
import { startPracticeCluster } from '../../scripts/practice/practice.mjs';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { form } from '../cluster/support/form.js';
import { FaultHosts, linkRuntime } from '../cluster/support/hosts.js';
import {
  endless,
  eventsOf,
  linesOf,
  measured,
  startRun,
  stateOf,
  training,
  untilOver,
  untilStep,
} from '../cluster/support/runs.js';

/**
 * More than a node may be silent (15 s), disconnected (20 s), or a rank without a heartbeat
 * (`hangTimeout`).
 */
const longEnough = form(25_000, 120_000);
const dir = mkdtempSync(join(tmpdir(), 'trainyard-clock-'));
const clocks = [0, 1].map((index) => join(dir, `clock-${index}`));
let hosts: FaultHosts;
let machine: SshMachine;

/** Steps the clock of a node, by what is added to the true time. */
function setClock(index: number, offset: string): void {
  const file = clocks[index] ?? '';
  writeFileSync(`${file}.new`, `${offset}\n`);
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  const library = ensureFaketime();
  const environments = clocks.map((file, index) => {
    linkRuntime(join(dir, `practice-${index + 1}`, 'home', '.trainyard'));
    setClock(index, '+0s');
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1', // as where a clock is set: what counts from the start of the machine goes on
    };
  });
  const practice = await startPracticeCluster({ dir, nodes: 2, environments });
  const trainyardHome = join(dir, 'trainyard');
  mkdirSync(trainyardHome, { mode: 0o700 });
  copyFileSync(practice.knownHosts, join(trainyardHome, 'known_hosts'));
  const profile = { ...practice.profile, hangTimeout: 15, maxRestarts: 0, env: { OMP_NUM_THREADS: '1' } };
  const homes = practice.nodes.map(({ home }) => home);
  hosts = new FaultHosts(profile, trainyardHome, homes, async () => {
    await practice.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  });
  machine = hosts.machine();
  await machine.runtime();
});
beforeEach(() => {
  for (const index of [0, 1]) setClock(index, '+0s');
});
afterAll(() => hosts.stop());

const lastStep = (runDir: string): number => Number(linesOf(runDir, 'metrics.jsonl').at(-1)?.['step'] ?? 0);

/** Seconds by which the newest figures of a node are ahead of the true time. */
function ahead(runDir: string, host: string): number {
  return Number(linesOf(runDir, join('gpus', `${host}.jsonl`)).at(-1)?.['time']) - Date.now() / 1000;
}

/**
 * Seconds by which a clock is off, one after the other. Each takes `longEnough`, so the short form
 * shares them out.
 */
test.each([
  { which: 'a node that joined', index: 1, offsets: form([3600], [3600, -3600]) },
  { which: 'the head', index: 0, offsets: form([-3600], [3600, -3600]) },
])('the clock of $which is $offsets s off and stepped: the run goes on', async ({ index, offsets }) => {
  const host = hosts.profile.hosts?.[index]?.host ?? '';
  const other = hosts.profile.hosts?.[1 - index]?.host ?? '';
  setClock(index, '+1800s');
  const runDir = await startRun(machine, hosts.profile, training(endless));
  await untilStep(runDir, 10);
  for (const offset of offsets) {
    setClock(index, `${offset > 0 ? '+' : ''}${offset}s`);
    const before = lastStep(runDir);
    await sleep(longEnough);
    expect(Math.abs(ahead(runDir, host) - offset)).toBeLessThan(30);
    expect(Math.abs(ahead(runDir, other))).toBeLessThan(30);
    expect(lastStep(runDir)).toBeGreaterThan(before);
    expect(stateOf(runDir)).toMatchObject({ phase: 'running', generation: 1 });
  }
  await machine.stop(runDir, 'checkpoint');
  const { state } = await untilOver(machine, runDir);
  expect(state).toMatchObject({ phase: 'stopped', exitCode: 75, generation: 1 });
  const kinds = new Set(eventsOf(runDir).map(({ kind }) => kind));
  for (const kind of ['node_lost', 'hang', 'restarting'] as const)
    expect([kind, kinds.has(kind)]).toEqual([kind, false]);
  measured(12, `${host} ${offsets.join(', then ')} s off: no eviction, ${lastStep(runDir)} steps`);
});

test('a run whose node is an hour off comes to its end', async () => {
  setClock(1, '-3600s');
  const runDir = await startRun(machine, hosts.profile, training(300));
  const { state } = await untilOver(machine, runDir);
  expect(state).toMatchObject({ phase: 'finished', exitCode: 0, generation: 1 });
  expect(lastStep(runDir)).toBe(300);
});
