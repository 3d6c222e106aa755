// Fault 8 over SSH: while a run goes on over two nodes, system calls of the rank that saves begin
// to fail, and work again later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureStrace } from '../../scripts/test/strace.mjs';
import { nodePath } from '../../src/core/base/nodePath.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { until } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import {
  endless,
  eventsOf,
  linesOf,
  measured,
  startRun,
  stateOf,
  training,
  untilEvent,
  untilOver,
  untilStep,
} from './support/runs.js';

/** Why strace may not look at a process that it did not start. */
function whyNot(): string | undefined {
  const scope = '/proc/sys/kernel/yama/ptrace_scope';
  const strict = existsSync(scope) && readFileSync(scope, 'utf8').trim() !== '0';
  return strict && process.getuid?.() !== 0 ? `${scope} is not 0, and this is not root` : undefined;
}
const unavailable = whyNot();

let hosts: FaultHosts;
let machine: SshMachine;
let dir: string;

beforeAll(async () => {
  if (unavailable !== undefined) return;
  hosts = await practiceHosts({ nodes: 2 });
  machine = hosts.machine();
  const words = training(endless, '--checkpoint-every', '50', '--log-every', '10', '--keep', '3');
  dir = await startRun(machine, { ...hosts.profile, maxRestarts: 0 }, words);
  await untilEvent(dir, 'checkpoint', 60);
});
afterAll(async () => {
  if (unavailable === undefined) await hosts.stop();
});

const lastStep = (): number =>
  Number(linesOf(dir, 'metrics.jsonl').findLast(({ kind }) => kind === 'step')?.['step']);
const saved = (): string[] =>
  linesOf(dir, 'metrics.jsonl')
    .filter(({ kind }) => kind === 'checkpoint')
    .map(({ path }) => String(path));

const stepOf = (checkpoint: string): number => Number(checkpoint.slice(-8));

/** Lets calls of rank 0 fail, all or those on one file, while `act` lasts. */
async function whileFailing<T>(
  [call, error, path]: [call: string, error: string, path?: string],
  act: () => Promise<T>,
): Promise<T> {
  const pid = stateOf(dir)?.ranks.find(({ rank }) => rank === 0)?.pid;
  const { program, env } = ensureStrace();
  const only = path === undefined ? [] : ['-P', path];
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`];
  const tracer = spawn(program, ['-f', ...only, ...inject, '-p', String(pid)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-10_000)));
  const ended = once(tracer, 'close');
  try {
    await until('strace to fail a call', () => {
      if (tracer.exitCode !== null) throw new Error(`strace ended: ${said}`);
      return said.includes('(INJECTED)');
    });
    return await act();
  } finally {
    tracer.kill('SIGINT');
    await ended;
  }
}

describe.skipIf(unavailable !== undefined)(`write errors (${unavailable ?? 'by strace'})`, () => {
  test.each([
    ['fsync', 'EIO', 'Input/output error'],
    ['rename', 'ENOSPC', 'No space left on device'],
  ])('%s fails with %s: said, training goes on, what was saved stays valid', async (call, error, words) => {
    const before = lastStep();
    const kept = await whileFailing([call, error], async () => {
      const failed = await until('a checkpoint that failed', () =>
        linesOf(dir, 'metrics.jsonl').find(
          (line) => line.kind === 'checkpoint_failed' && Number(line['step']) > before,
        ),
      );
      expect(String(failed['message'])).toContain(words);
      await untilStep(dir, Number(failed['step']) + 60); // and another one failed
      const newest = saved().at(-1) ?? '';
      expect(stepOf(newest)).toBeLessThan(Number(failed['step']));
      const client = await machine.node.client();
      const { checkpoints } = await client.request('checkpoint.list', { dir: nodePath(dir), verify: true });
      expect(checkpoints.find(({ step }) => step === stepOf(newest))?.valid).toBe(true);
      return newest;
    });
    const again = await until('a checkpoint that was saved', () => {
      const newest = saved().at(-1) ?? '';
      return newest !== kept && newest;
    });
    measured(
      8,
      `${call} ${error}: none saved after step ${stepOf(kept)}, saved again at step ${stepOf(again)}`,
    );
  });

  test('metrics that cannot be written: training goes on, and no line is broken', async () => {
    const before = lastStep();
    await whileFailing(['write', 'ENOSPC', join(dir, 'metrics.jsonl')], async () => {
      const last = lastStep();
      await sleep(3000);
      expect(lastStep()).toBe(last);
    });
    await untilStep(dir, before + 100);
    const steps = linesOf(dir, 'metrics.jsonl') // each line is read as JSON
      .filter(({ kind }) => kind === 'step')
      .map(({ step }) => Number(step));
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  });

  test('the run was never ended by it', async () => {
    await machine.stop(nodePath(dir), 'checkpoint');
    const { state } = await untilOver(machine, nodePath(dir));
    expect(state).toMatchObject({ phase: 'stopped', generation: 1 });
    expect(eventsOf(dir).filter(({ kind }) => kind === 'rank_exited')).toHaveLength(2);
  });
});
