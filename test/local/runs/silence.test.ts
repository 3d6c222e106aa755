// A program of the user that prints nothing any more is ended and started again, with or without a
// client. One that prints seldom is left alone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, readLines, runCli, temporaryFolder, until, type Line } from '../../support/harness.js';

const folder = temporaryFolder('silence');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const run = (name: string): string => join(folder.path, name);
const state = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(run(name), 'state.json'), 'utf8')) as Record<string, unknown>;
const events = (name: string, kind: string): Line[] =>
  readLines(join(run(name), 'events.jsonl')).filter((line) => line.kind === kind);
const isOver = (name: string) => (): boolean =>
  existsSync(join(run(name), 'state.json')) && state(name)['ended'] !== null;

/** Counts to 12 in a file, from where it stands; process 1 stands still once, at 5. */
const counting = `
import os, signal, sys, time
place = os.path.join(os.environ['TRAINYARD_RUN_DIR'], 'count-' + os.environ['RANK'])
done = int(open(place).read()) if os.path.exists(place) else 0
print('from', done, flush=True)
for step in range(done + 1, 13):
    time.sleep(0.1)
    if step == 6 and os.environ['RANK'] == '1' and os.environ['TRAINYARD_GENERATION'] == '1':
        os.kill(os.getpid(), signal.SIGSTOP)
    if step == 6 and os.environ['RANK'] == '0' and os.environ['TRAINYARD_GENERATION'] == '1':
        time.sleep(600)
    with open(place + '.new', 'w') as new:
        new.write(str(step))
    os.replace(place + '.new', place)
    print('step', step, flush=True)
`;

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(folder.path, 'count.py'), counting);
  const local = {
    ...{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') },
    ...{ maxRestarts: 1, silenceTimeout: 600, hosts: [{ host: 'here', slots: 2 }] },
  };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [local] }));
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

it('ends a program that stands still, without a client, and the next start goes on', async () => {
  const words = ['--detach', '--per-slot', '--run-dir', run('stopped'), '--silence-timeout', '6s'];
  expectExit(await runCli(['run', 'local', ...words, '--', 'python3', 'count.py'], options), 0);
  await until('the end of the run', isOver('stopped'), 120);
  expect(state('stopped')).toMatchObject({ phase: 'finished', generation: 2 });
  for (const rank of [0, 1]) {
    expect(readFileSync(join(run('stopped'), `logs/rank-${rank}.log`), 'utf8')).toContain('from 5\nstep 6\n');
  }
  const [stalled] = events('stopped', 'stalled');
  expect(stalled).toMatchObject({ silent: true, waiting_for: [{ rank: 1 }] });
  const [hang] = events('stopped', 'hang');
  expect(hang).toMatchObject({ silent: true, suspects: [1] });
  expect(Number(hang?.['time']) - Number(stalled?.['time'])).toBeGreaterThan(1);
});

it('leaves a slow printer alone, and one that is given 0 in place of the profile', async () => {
  const slow = 'for n in 1 2 3; do sleep 3; echo $n; done';
  const words = (name: string, limit: string): string[] => [
    ...['run', 'local', '--run-dir', run(name), `--silence-timeout=${limit}`],
    ...['--', 'sh', '-c', slow],
  ];
  expectExit(await runCli(words('slow', '6s'), options), 0);
  expect(state('slow')).toMatchObject({ phase: 'finished', generation: 1 });
  expect([...events('slow', 'stalled'), ...events('slow', 'hang')]).toEqual([]);
  expectExit(await runCli(words('off', '0'), options), 0);
  const record = JSON.parse(readFileSync(join(run('off'), 'run.json'), 'utf8')) as { limits: unknown };
  expect(record.limits).toMatchObject({ silenceTimeout: 0 });
});

it('refuses what is no time, and a training', async () => {
  const wrong = await runCli(['run', 'local', '--silence-timeout', '10', '--', 'true'], options);
  expectExit(wrong, 2);
  expect(wrong.stderr).toContain('--silence-timeout must be from 1s to 365d');
  const training = ['--silence-timeout', '10m', '--', 'train', '--model', 'mlp', '--data', 'synthetic'];
  const trains = await runCli(['run', 'local', ...training], options);
  expectExit(trains, 2);
  expect(trains.stderr).toContain('is for programs of your own, and train is a verb of the trainer');
});
