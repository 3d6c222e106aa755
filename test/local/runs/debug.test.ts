// A rank of an own program under the real debugpy: the rank waits, a debugger attaches by the port
// that `debug` brings, stops it at a line, and lets it go on. After a failure the rank waits again.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DapClient } from '../../support/dapClient.js';
import { debugpyPython } from '../../support/pinnedPython.js';
import {
  cli,
  expectExit,
  parseLines,
  readLinesSoFar,
  runCli,
  start,
  temporaryFolder,
  until,
  type Line,
} from '../../support/harness.js';

const folder = temporaryFolder('debug');
const home = join(folder.path, 'home');
const code = join(folder.path, 'code');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const place = (name: string): string => join(folder.path, name);
const events = (name: string, kind: string): Line[] =>
  readLinesSoFar(join(place(name), 'events.jsonl')).filter((line) => line.kind === kind);

/** The debugger changes the rate in line 3; the first generation of the other run fails. */
const program = `import os, sys
rate = 0.5
print('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'], 'rate', rate, flush=True)
if 'fail' in sys.argv and os.environ['TRAINYARD_GENERATION'] == '1':
    sys.exit(1)
`;
let python = '';

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  mkdirSync(code);
  writeFileSync(join(code, 'train.py'), program);
  const local = { name: 'local', kind: 'local', workdir: place('work'), silenceTimeout: 2 };
  const hosts = [{ host: 'here', slots: 2 }];
  const profile = { ...local, maxRestarts: 1, hosts };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  python = debugpyPython();
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

/** Attaches as VS Code does, and stops at line 3. */
async function stopped(port: number, configuration: object): Promise<DapClient> {
  const client = await DapClient.connect(port);
  await client.ask('initialize', { adapterID: 'test', linesStartAt1: true, pathFormat: 'path' });
  const attached = client.send('attach', configuration);
  await client.event('initialized');
  const source = { path: join(code, 'train.py') };
  const { breakpoints } = await client.ask('setBreakpoints', { source, breakpoints: [{ line: 3 }] });
  expect(breakpoints).toMatchObject([{ verified: true, line: 3 }]);
  await client.ask('configurationDone');
  await client.answer(attached);
  return client;
}

it('stops a rank at a line, shows its variables, and lets the run finish', async () => {
  const words = ['--ranks', '2', '--debug', '1', '--code', code, '--run-dir', place('run')];
  const run = start(process.execPath, [cli, 'run', 'local', ...words, '--', python, 'train.py'], options);
  await until('the run', () => run.stdout.includes('waits until a debugger attaches'), 60);
  const debug = start(process.execPath, [cli, 'debug', place('run'), '--json'], options);
  const [tunnel] = await until('the tunnel', () => {
    const lines = parseLines(debug.stdout.slice(0, debug.stdout.lastIndexOf('\n') + 1));
    return lines.length > 0 && lines;
  });
  const { port, configuration } = tunnel as unknown as { port: number; configuration: object };
  expect(configuration).toMatchObject({ connect: { host: '127.0.0.1', port } });
  // The limit of silence of the profile does not count: the rank waits longer than that.
  await new Promise((wake) => setTimeout(wake, 2500));
  expect(events('run', 'rank_exited')).toMatchObject([{ rank: 0, exit_code: 0 }]);
  const client = await stopped(port, configuration);
  const { threadId } = await client.event('stopped');
  const { stackFrames } = await client.ask('stackTrace', { threadId });
  const [frame] = stackFrames as { id: number; line: number; source: { path: string } }[];
  expect(frame).toMatchObject({ line: 3, source: { path: join(code, 'train.py') } });
  const asked = { expression: 'os.environ["RANK"], rate', frameId: frame?.id, context: 'repl' };
  expect(await client.ask('evaluate', asked)).toMatchObject({ result: "('1', 0.5)" });
  await client.ask('evaluate', { ...asked, expression: 'rate = 0.25' });
  await client.ask('continue', { threadId });
  expectExit(await run.ended, 0);
  client.close();
  debug.child.kill('SIGTERM');
  expectExit(await debug.ended, 0);
  const log = (rank: number): string => readFileSync(join(place('run'), `logs/rank-${rank}.log`), 'utf8');
  expect([log(0), log(1)]).toEqual(['rank 0 of 2 rate 0.5\n', 'rank 1 of 2 rate 0.25\n']);
});

it('waits again after a failure, at the same address', async () => {
  const words = ['--detach', '--debug', '0', '--code', code, '--run-dir', place('again')];
  expectExit(await runCli(['run', 'local', ...words, '--', python, '-u', 'train.py', 'fail'], options), 0);
  const debug = start(process.execPath, [cli, 'debug', place('again'), '--json'], options);
  await until('the tunnel', () => debug.stdout.includes('\n'));
  const [tunnel] = parseLines(debug.stdout);
  const { port, configuration } = tunnel as unknown as { port: number; configuration: object };
  for (const generation of [1, 2]) {
    await until(`generation ${generation}`, () => events('again', 'debugger_waiting').length === generation);
    const client = await stopped(port, configuration);
    await client.ask('continue', await client.event('stopped'));
    await until('the end', () => events('again', 'rank_exited').length === generation);
    client.close();
  }
  debug.child.kill('SIGTERM');
  await debug.ended;
  await until('the end of the run', () => events('again', 'finished').length > 0);
  expect(events('again', 'finished')).toMatchObject([{ phase: 'finished', generation: 2 }]);
  const late = await runCli(['debug', place('again')], options);
  expectExit(late, 2);
  expect(late.stderr).toContain('no rank of it waits for a debugger');
});
