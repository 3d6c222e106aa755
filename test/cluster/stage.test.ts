// A run whose profile stages a folder: its nodes have the data on their own disks before it starts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { requestOf } from '../../src/core/plan/request/request.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { untilOver } from './support/runs.js';

const nodes = 2;
const dir = mkdtempSync(join(tmpdir(), 'trainyard-stage-'));
let hosts: FaultHosts;
let machine: SshMachine;
let profile: Profile;

beforeAll(async () => {
  mkdirSync(join(dir, 'train/cat'), { recursive: true });
  writeFileSync(join(dir, 'train/cat/name.txt'), 'first');
  hosts = await practiceHosts({ nodes });
  machine = hosts.machine();
  profile = { ...hosts.profile, stage: { from: dir, to: '~/staged' } };
});
afterAll(async () => {
  await hosts.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('a program finds what was staged, and the next run what has changed since', async () => {
  const program = 'import os; print(open(os.path.expanduser("~/staged/train/cat/name.txt")).read())';
  const request = requestOf({ profile, words: ['python3', '-c', program], cwd: '/', ranks: nodes });
  for (const text of ['first', 'second']) {
    writeFileSync(join(dir, 'train/cat/name.txt'), text);
    const said: string[] = [];
    const run = await machine.start(request, { onProgress: (line) => said.push(line) });
    expect(said.indexOf('comparing what the nodes have')).toBeLessThan(said.indexOf('starting'));
    expect((await untilOver(machine, run.dir)).state).toMatchObject({ phase: 'finished' });
    for (let rank = 0; rank < nodes; ++rank)
      expect(readFileSync(join(run.dir, 'logs', `rank-${rank}.log`), 'utf8').trim()).toBe(text);
  }
});

test('the data of a training is looked for after it was staged', async () => {
  for (const home of hosts.homes) rmSync(join(home, 'staged'), { recursive: true });
  const words = ['train', '--model', 'mlp', '--data', '~/staged/none', '--device', 'cpu', '--steps', '1'];
  const wrong = machine.start(requestOf({ profile, words, cwd: '/', ranks: nodes }));
  await expect(wrong).rejects.toThrow('~/staged/none does not exist');
  for (const home of hosts.homes)
    expect(readFileSync(join(home, 'staged/train/cat/name.txt'), 'utf8')).toBe('second');
  const right = [...words.slice(0, 4), '~/staged/train', ...words.slice(5)];
  const run = machine.start(requestOf({ profile, words: right, cwd: '/', ranks: nodes }));
  // The folder is there; that it has no image is the trainer's to say.
  expect((await untilOver(machine, (await run).dir)).state).toMatchObject({ phase: 'failed' });
});
