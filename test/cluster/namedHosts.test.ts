// `trainyard run P --hosts A,B` on three nodes, of which the one in the middle hangs up: the ranks
// are on the hosts that are named, and nobody calls the other.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunFile } from '../../src/core/contracts/runSchema.js';
import { expectExit, parseLines, runCli, type Outcome } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { endless, linesOf, stateOf, training } from './support/runs.js';

let hosts: FaultHosts;
let names: string[];
/** How often somebody called the node in the middle. */
let calls = 0;
const middle = createServer((socket) => {
  calls += 1;
  socket.on('error', () => undefined).destroy();
});
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 3 });
  const { hosts: all = [], ...profile } = hosts.profile;
  names = all.map(({ host }) => host);
  await new Promise<void>((done) => middle.listen(0, names[1], done));
  const { port } = middle.address() as AddressInfo;
  const list = all.map((host, at) => ({ ...host, slots: 2, ...(at === 1 ? { port } : {}) }));
  const lab = { ...profile, name: 'lab', hosts: list, minNodes: 3 };
  const text = JSON.stringify({ version: 1, profiles: [lab] });
  writeFileSync(join(hosts.trainyardHome, 'profiles.json'), text);
});
beforeEach(() => {
  calls = 0;
});
afterEach(() => {
  expect(calls).toBe(0);
});
afterAll(async () => {
  middle.close();
  await hosts.stop();
});

const cli = (...words: string[]): Promise<Outcome> =>
  runCli(words, { env: { TRAINYARD_HOME: hosts.trainyardHome } });
/** The hosts by their places in the profile, as the flag takes them. */
const named = (...places: number[]): string => places.map((at) => names[at]).join(',');
/** The folder of the run of such an outcome. */
const folderOf = ({ stdout }: Outcome): string =>
  String((parseLines(stdout) as { type?: string; dir?: string }[]).find(({ type }) => type === 'run')?.dir);
const recordOf = (dir: string): RunFile => JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunFile;
const ranksOf = (dir: string): string[] => stateOf(dir)?.ranks.map(({ host }) => host) ?? [];

test('a training has ranks on all slots of the named hosts', async () => {
  const words = training(20, '--batch-size', '4');
  const outcome = await cli('run', 'lab', '--hosts', named(2, 0), '--json', '--', ...words);
  expectExit(outcome, 0);
  const dir = folderOf(outcome);
  expect(ranksOf(dir)).toEqual([names[0], names[0], names[2], names[2]]);
  expect(recordOf(dir)).toMatchObject({ ranks: 4, minNodes: 2, hostsAsked: [names[2], names[0]] });
  // Nobody was on the node in the middle.
  expect(readdirSync(join(hosts.homes[1] ?? '', '.trainyard'))).toEqual(['runtime']);
});

// 4 ranks take 4 images each of a step, and then 2 ranks 8 each.
test('a training that was stopped goes on with other hosts, and has the same batch', async () => {
  const words = training(endless, '--batch-size', '4');
  const limit = ['--time-limit', '1s', '--json'];
  const outcome = await cli('run', 'lab', '--hosts', named(0, 2), ...limit, '--', ...words);
  const dir = folderOf(outcome);
  expect(stateOf(dir)).toMatchObject({ phase: 'stopped', world: 4 });
  await cli('resume', dir, '--profile', 'lab', '--hosts', named(0), ...limit);
  expect(stateOf(dir)).toMatchObject({ phase: 'stopped', world: 2 });
  expect(ranksOf(dir)).toEqual([names[0], names[0]]);
  const [first, again] = linesOf(dir, 'metrics.jsonl').filter(({ kind }) => kind === 'start');
  expect(first).toMatchObject({ world: 4, global_batch: 16, resumed_from: null });
  expect(again).toMatchObject({ world: 2, global_batch: 16 });
  expect(again?.['resumed_from']).toMatch(/^step-/);
});

test('a run from a checkpoint has ranks on all slots of the named hosts', async () => {
  // Not the limit of 1 s of the run before.
  const flags = ['--profile', 'lab', '--hosts', named(0), '--time-limit', '5m', '--json'];
  const outcome = await cli('run-from', 'last', ...flags, '--', '--steps', '5');
  expectExit(outcome, 0);
  const dir = folderOf(outcome);
  expect(ranksOf(dir)).toEqual([names[0], names[0]]);
  expect(recordOf(dir)).toMatchObject({
    hostsAsked: [names[0]],
    from: { step: expect.any(Number) as unknown },
  });
});

test('a program runs with its code on a named host alone, and its folder is on the head', async () => {
  const code = join(hosts.trainyardHome, 'code');
  mkdirSync(code);
  writeFileSync(join(code, 'say.sh'), 'echo "$RANK of $WORLD_SIZE in $HOME"');
  const flags = ['--hosts', named(2), '--per-slot', '--code', code, '--json'];
  const outcome = await cli('run', 'lab', ...flags, '--', 'sh', 'say.sh');
  expectExit(outcome, 0);
  const dir = folderOf(outcome);
  expect(dir.startsWith(hosts.homes[0] ?? 'none')).toBe(true);
  for (const rank of [0, 1])
    expect(readFileSync(join(dir, `logs/rank-${rank}.log`), 'utf8')).toBe(
      `${rank} of 2 in ${hosts.homes[2]}\n`,
    );
});

test('a training without the head, which its rank 0 would have to see, says what to do', async () => {
  const outcome = await cli('run', 'lab', '--hosts', named(2), '--', ...training(5));
  expectExit(outcome, 4);
  expect(outcome.stderr).toContain(`rank 0 would be on ${names[2]}, which does not see ~/.trainyard`);
  expect(outcome.stderr).toContain(`Name ${names[0]} in --hosts too`);
});

test('a name that the profile does not have is refused, and the hosts are listed', async () => {
  const outcome = await cli('run', 'lab', '--hosts', `${named(0)},127.0.0.33`, '--', ...training(5));
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain('127.0.0.33 is no host of profile lab');
  expect(outcome.stderr).toContain(`Its hosts are ${names.join(', ')}`);
});
