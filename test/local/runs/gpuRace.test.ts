// Runs on GPUs that are scripted: who gets which, what the errors say, and that two clients that start
// in the same moment never get the same one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFileSchema } from '../../../src/core/contracts/runSchema.js';
import {
  expectExit,
  processesNaming,
  runCli,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('gpu-race');
const standIn = join(import.meta.dirname, '../../../build/native/release/tests/agent/nvml');
const script = join(folder.path, 'nvml');
const env = {
  ...process.env,
  LD_LIBRARY_PATH: standIn,
  NVML_STAND_IN: script,
  TRAINYARD_GPU_LOCKS: join(folder.path, 'locks'),
  XDG_CONFIG_HOME: join(folder.path, 'config'),
};
const isLong = process.env['TRAINYARD_FAULTS'] === 'long';
const rounds = isLong ? 20 : 3;
const possible = existsSync(join(standIn, 'libnvidia-ml.so.1'));

beforeAll(async () => {
  writeFileSync(script, 'gpus 2\n');
  expectExit(await runCli(['runtime']), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

const cli = (words: string[]): Promise<Outcome> => runCli(words, { env });
/** A run on one GPU that lives until its file is there. */
const start = (name: string, ...flags: string[]): Promise<Outcome> => {
  const program = ['sh', '-c', `while [ ! -e '${join(folder.path, `${name}.end`)}' ]; do sleep 0.1; done`];
  const dir = join(folder.path, name);
  return cli(['run', 'local', ...flags, '--detach', '--run-dir', dir, '--', ...program, '--device', 'cuda']);
};
const record = (name: string): ReturnType<typeof runFileSchema.parse> =>
  runFileSchema.parse(JSON.parse(readFileSync(join(folder.path, name, 'run.json'), 'utf8')));
const isOver = (name: string): boolean =>
  readFileSync(join(folder.path, name, 'state.json'), 'utf8').includes('"finished"');
async function end(...names: string[]): Promise<void> {
  for (const name of names) writeFileSync(join(folder.path, `${name}.end`), '');
  await until('the runs to end', () => names.every(isOver), 30);
}

/** A third one waits, and gets the GPU of whichever run ends. */
async function getsItsTurn(third: string, [first = '', second = '']: readonly string[]): Promise<void> {
  const waiting = start(third, '--wait');
  await end(first);
  expectExit(await waiting, 0);
  expect(record(third).gpus).toEqual(record(first).gpus);
  await end(second, third);
}

describe.skipIf(!possible)('runs on GPUs of one machine', () => {
  it('take different GPUs where two clients start in the same moment', async () => {
    writeFileSync(script, 'gpus 2\n');
    for (let round = 0; round < rounds; round += 1) {
      const names = [`a${round}`, `b${round}`];
      for (const outcome of await Promise.all(names.map((name) => start(name)))) expectExit(outcome, 0);
      expect(names.flatMap((name) => record(name).gpus ?? []).sort()).toEqual([0, 1]);
      const third = `c${round}`;
      const late = await start(third);
      expectExit(late, 4);
      for (const name of names) expect(late.stderr).toContain(`is taken by run ${record(name).id} (process `);
      expect(existsSync(join(folder.path, third))).toBe(false);
      if (isLong) await getsItsTurn(third, names);
      else await end(...names);
    }
  });

  it('leave one of two clients without a GPU where there is one', async () => {
    writeFileSync(script, 'gpus 1\n');
    for (let round = 0; round < rounds; round += 1) {
      const names = [`one${round}`, `two${round}`];
      const outcomes = await Promise.all(names.map((name) => start(name)));
      expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 4]);
      const winner = names[outcomes.findIndex(({ code }) => code === 0)] ?? '';
      const loser = outcomes.findIndex(({ code }) => code === 4);
      expect(outcomes[loser]?.stderr).toMatch(/GPU 0 (of \S+ is held|is taken) by (run |a run that)/);
      expect(existsSync(join(folder.path, names[loser] ?? ''))).toBe(false);
      await end(winner);
    }
  });

  it('say who holds a GPU', async () => {
    writeFileSync(script, `gpus 2\nprocess 1 ${process.pid} 1073741824\n`);
    expectExit(await start('held'), 0);
    const { id } = record('held');
    const shown = await cli(['gpus', 'local']);
    expect(shown.stdout).toMatch(new RegExp(`GPU 0 .*\\n +held by run ${id} \\(process \\d+\\)\\n`));
    expect(shown.stdout).toMatch(
      new RegExp(`GPU 1 .*\\n +process ${process.pid} of \\S+ \\(.+\\), 1(\\.\\d+)? `),
    );
    const json = JSON.parse((await cli(['gpus', 'local', '--json'])).stdout) as Record<string, unknown>;
    expect(json['gpus']).toMatchObject([
      { held_by: { run: id, dir: join(folder.path, 'held') }, processes: [] },
      { held_by: null, processes: [{ pid: process.pid, command: expect.any(String) as string }] },
    ]);
    const check = await cli(['check', 'local']);
    expect(check.stdout).toMatch(
      new RegExp(`GPUs +ok +0 of 2 free, GPU 0 is taken by run ${id} .*GPU 1 is taken by`),
    );
    const late = await start('late');
    expectExit(late, 4);
    expect(late.stderr).toContain(`GPU 1 is taken by process ${process.pid} of `);
    await end('held');
    expect((await cli(['gpus', 'local'])).stdout).not.toContain('held by');
  });

  it('take exactly the GPUs that were asked for', async () => {
    writeFileSync(script, 'gpus 4\n');
    const seen = join(folder.path, 'seen');
    const program = ['sh', '-c', `echo "$CUDA_VISIBLE_DEVICES" >> ${seen}`];
    const ask = (gpus: string, ...more: string[]): Promise<Outcome> => {
      const dir = join(folder.path, `asked-${gpus}`);
      return cli(['run', 'local', '--run-dir', dir, '--gpus', gpus, ...more, '--', ...program]);
    };
    expectExit(await ask('3,1'), 0);
    expectExit(await ask('3', '--ranks', '2'), 0);
    expect(readFileSync(seen, 'utf8').trimEnd().split('\n').sort()).toEqual(['0,1', '2', '3,1']);
    expect(record('asked-3')).toMatchObject({ gpusAsked: '3', gpus: [0, 1, 2], ranks: 2 });

    expectExit(await start('named'), 0); // takes GPU 0
    const held = await ask('2,0');
    expectExit(held, 4);
    expect(held.stderr).toContain(`GPU 0 is taken by run ${record('named').id} (process `);
    expect(held.stderr).toContain('ask for others with --gpus');
    const many = await ask('4');
    expectExit(many, 4);
    expect(many.stderr).toContain('has 3 free of the 4 GPUs that were asked for');
    for (const bad of ['0,0', '-1', '0', '0,9', 'x']) expectExit(await ask(bad), 2);
    for (const dir of ['2,0', '4', '0,9']) expect(existsSync(join(folder.path, `asked-${dir}`))).toBe(false);
    await end('named');
  });
});
