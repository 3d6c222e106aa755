// The queue for GPUs, by the command line and GPUs that are scripted: a start gets its turn, and
// whatever ends it takes it out of the queue.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFileSchema, stateSchema, type RunState } from '../../../src/core/contracts/runSchema.js';
import {
  cli as program,
  expectExit,
  processesNaming,
  runCli,
  start,
  temporaryFolder,
  until,
  type Outcome,
  type Running,
} from '../../support/harness.js';

const folder = temporaryFolder('gpu-queue');
const standIn = join(import.meta.dirname, '../../../build/native/release/tests/agent/nvml');
const script = join(folder.path, 'nvml');
const env = {
  ...process.env,
  LD_LIBRARY_PATH: standIn,
  NVML_STAND_IN: script,
  TRAINYARD_GPU_LOCKS: join(folder.path, 'locks'),
  XDG_CONFIG_HOME: join(folder.path, 'config'),
};
const possible = existsSync(join(standIn, 'libnvidia-ml.so.1'));

beforeAll(async () => {
  writeFileSync(script, 'gpus 2\n');
  expectExit(await runCli(['runtime']), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 60);
  folder.remove();
});

const fileOf = (name: string): string => join(folder.path, `${name}.end`);
/** A run that lives until its file is there. */
const wordsOf = (name: string, ...flags: string[]): string[] => [
  ...['run', 'local', '--run-dir', join(folder.path, name), ...flags, '--'],
  ...['sh', '-c', `while [ ! -e '${fileOf(name)}' ]; do sleep 0.1; done`],
];
const begin = (name: string, ...flags: string[]): Promise<Outcome> =>
  runCli(wordsOf(name, '--detach', ...flags), { env });
/** A start that waits, once it has said so. */
async function queue(name: string, place: string, ...flags: string[]): Promise<Running> {
  const waiting = start(process.execPath, [program, ...wordsOf(name, '--wait', ...flags)], { env });
  await until(`${name} to be ${place}`, () => waiting.stderr.includes(`${place} in the queue`));
  return waiting;
}
const record = (name: string): ReturnType<typeof runFileSchema.parse> =>
  runFileSchema.parse(JSON.parse(readFileSync(join(folder.path, name, 'run.json'), 'utf8')));
const stateOf = (name: string): RunState =>
  stateSchema.parse(JSON.parse(readFileSync(join(folder.path, name, 'state.json'), 'utf8')));
const isOver = (name: string): boolean => stateOf(name).phase === 'finished';
const isRunning = (name: string): boolean =>
  existsSync(join(folder.path, name, 'state.json')) && stateOf(name).phase === 'running';
async function end(...names: string[]): Promise<void> {
  for (const name of names) writeFileSync(fileOf(name), '');
  await until('the runs to end', () => names.every(isOver));
}
const phaseOf = (line: string): string => z.object({ phase: z.string() }).parse(JSON.parse(line)).phase;
const tickets = (): string[] => readdirSync(join(folder.path, 'locks', 'queue'));

describe.skipIf(!possible)('starts that wait for GPUs of one machine', () => {
  it('get them in their order, and nobody overtakes them', async () => {
    expectExit(await begin('first', '--gpus', '1'), 0);
    const both = await queue('both', '1st', '--gpus', '2');
    expect(both.stderr).toContain(`waiting for GPUs 0, 1 on ${hostname()}: 1st in the queue; held by run `);
    expect(both.stderr).toContain(`held by run ${record('first').id} (process `);
    const one = await queue('one', '2nd', '--gpus', '0,');
    const late = await begin('late', '--gpus', '1'); // GPU 1 is free, and kept for the first in the queue
    expectExit(late, 4);
    expect(late.stderr).toMatch(/GPU 1 is taken by a start that waits in the queue \(\S+@\S+\)/);
    expect(late.stderr).toContain('queue for them with --wait');
    expect(existsSync(join(folder.path, 'late'))).toBe(false);
    expect(tickets()).toHaveLength(2);
    const shown = await runCli(['gpus', 'local'], { env });
    // The GPUs are a stand-in's, and there is no driver, or one that the machine has besides.
    expect(shown.stdout).toMatch(/^ {2}(no CUDA back end|CUDA 1[23]'s build), since \S/m);
    expect(shown.stdout).toMatch(/ {2}\S+@\S+ waits for 2 of GPU 0, 1\n {2}\S+@\S+ waits for 1 of GPU 0\n/);

    await end('first');
    await until('both to have them', () => isRunning('both'));
    expect(record('both')).toMatchObject({ gpus: [0, 1], gpusAsked: '2' });
    await until('the other one to be first', () => one.stderr.includes('1st in the queue'));
    await end('both');
    expectExit(await both.ended, 0);
    await until('the other one to have it', () => isRunning('one'));
    expect(record('one').gpus).toEqual([0]);
    expect(tickets()).toEqual([]);
    await end('one');
    expectExit(await one.ended, 0);
  });

  it('wait by themselves once nobody stays with them', async () => {
    expectExit(await begin('held', '--gpus', '2'), 0);
    const detached = await begin('detached', '--wait', '--gpus', '1');
    expectExit(detached, 0);
    expect(detached.stderr).toContain('the run waits for its turn. To leave the queue: trainyard stop ');
    const here = await queue('here', '2nd', '--gpus', '1'); // both ways have one order
    const place = `waiting for a GPU: 1st in the queue; held by run ${record('held').id} (process `;
    await until('its place', () => stateOf('detached').waiting?.includes(place) === true);
    const attached = start(process.execPath, [program, 'attach', join(folder.path, 'detached')], { env });
    await until('the one that attached to say it', () => attached.stdout.includes(place));

    const stopped = await begin('stopped', '--wait', '--gpus', '2');
    expectExit(stopped, 0);
    expectExit(await runCli(['stop', join(folder.path, 'stopped')], { env }), 0);
    expect(stateOf('stopped')).toMatchObject({ phase: 'stopped', exitCode: 75 });
    expect(tickets()).toHaveLength(2);
    await end('held');
    await until('both to begin', () => isRunning('detached') && isRunning('here'));
    expect(record('detached')).toMatchObject({ gpus: [0], gpusAsked: '1' });
    expect(record('here').gpus).toEqual([1]);
    await end('detached', 'here');
    expectExit(await attached.ended, 0);
    expectExit(await here.ended, 0);
  });

  it('of a sweep all wait at once, and each takes a GPU', async () => {
    const words = [
      ...['sweep', 'local', '--detach', '--runs-at-once', 'gpus', '--gpus', '1', '--name', 'all'],
      ...[
        '--grid',
        'n=1,2,3',
        '--',
        'sh',
        '-c',
        `while [ ! -e '${fileOf('sweep')}' ]; do sleep 0.1; done`,
        '{n}',
      ],
    ];
    const swept = await runCli(words, { env, cwd: folder.path });
    expectExit(swept, 0);
    expect(swept.stdout).toContain('3 trials of 3 go on without this command');
    const phases = async (): Promise<string[]> => {
      const { stdout } = await runCli(['runs', 'local', '--json', '--tag', 'all'], { env });
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => phaseOf(line))
        .sort();
    };
    await until('two of them to run', async () => (await phases()).join() === 'queued,running,running');
    writeFileSync(fileOf('sweep'), '');
    const ended = await runCli(['sweep', '--resume', 'sweep-all'], { env, cwd: folder.path });
    expectExit(ended, 0);
    expect(ended.stderr).toContain('3 of 3 trials finished.');
    expect(tickets()).toEqual([]);
  });

  it('leave the queue when they are cancelled or killed', async () => {
    expectExit(await begin('holder', '--gpus', '2'), 0);
    const cancelled = await queue('cancelled', '1st', '--gpus', '1');
    const killed = await queue('killed', '2nd', '--gpus', '1');
    expect(tickets()).toHaveLength(2);
    cancelled.child.kill('SIGINT');
    const outcome = await cancelled.ended;
    expectExit(outcome, 130);
    expect(outcome.stderr).toContain('trainyard: cancelled');
    await until('the next one to move up', () => killed.stderr.includes('1st in the queue'));
    expect(tickets()).toHaveLength(1);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const after = await queue('after', '1st', '--gpus', '1');
    expect(tickets()).toHaveLength(1);
    for (const name of ['cancelled', 'killed']) expect(existsSync(join(folder.path, name))).toBe(false);
    await end('holder');
    await until('the last one to have it', () => isRunning('after'));
    expect(tickets()).toEqual([]);
    await end('after');
    expectExit(await after.ended, 0);
  });

  it('do not wait for what will never be there', async () => {
    const never = await begin('never', '--wait', '--gpus', '3');
    expectExit(never, 4);
    expect(never.stderr).toContain('has 2 GPUs, and 3 were asked for. Ask for --gpus 2 or fewer');
    const nothing = await runCli(['run', 'local', '--wait', '--', 'true'], { env });
    expectExit(nothing, 2);
    expect(nothing.stderr).toContain('there is nothing to wait for');
  });
});
