// A program whose ranks all read the checkpoint that rank 0 wrote, on two nodes without a shared
// disk: it goes on from there after a failure and at a resume.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectExit, runCli, type Outcome } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { eventsOf } from './support/runs.js';

/** Rank 0 writes one more step at each start and fails; the third start ends well. */
const program = `
import json, os, sys, time
rank = int(os.environ['RANK'])
path = 'new/last.json' if os.path.exists('new/last.json') else 'out/last.json'
step = json.load(open(path))['step'] if os.path.exists(path) else 0
print('from', step, flush=True)
if step == 2:
    sys.exit(0)
if rank > 0:
    time.sleep(600)
for folder in ('out', 'new'):
    os.makedirs(folder, exist_ok=True)
    with open(folder + '/last.new', 'w') as file:
        json.dump({'step': step + 1}, file)
    os.replace(folder + '/last.new', folder + '/last.json')
sys.exit(1)
`;

const dir = mkdtempSync(join(tmpdir(), 'trainyard-share-'));
let hosts: FaultHosts;

beforeAll(async () => {
  writeFileSync(join(dir, 'train.py'), program);
  hosts = await practiceHosts({ nodes: 2 });
  const list = (hosts.profile.hosts ?? []).map((host) => ({ ...host, slots: 1 }));
  const profile = { ...hosts.profile, name: 'lab', hosts: list, maxRestarts: 1 };
  writeFileSync(
    join(hosts.trainyardHome, 'profiles.json'),
    JSON.stringify({ version: 1, profiles: [profile] }),
  );
});
afterAll(async () => {
  await hosts.stop();
  rmSync(dir, { recursive: true, force: true });
});

const trainyard = (...words: string[]): Promise<Outcome> =>
  runCli(words, { env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome }, cwd: dir });

test('every rank goes on from the checkpoint of rank 0, after a failure and at a resume', async () => {
  const own = ['--code', dir, '--', 'python3', 'train.py'];
  const begun = await trainyard('run', 'lab', '--per-slot', '--share', './out/', ...own);
  expectExit(begun, 5);
  const [, second] = hosts.profile.hosts ?? [];
  expect(begun.stdout + begun.stderr).toMatch(new RegExp(`copied out to ${second?.host ?? ''}: 1 file, `));
  const resumed = await trainyard('resume', 'last', '--share', 'new');
  expectExit(resumed, 0);
  const [head = '', other = ''] = hosts.homes.map((home) => {
    const runs = join(home, '.trainyard/runs');
    return join(runs, readdirSync(runs)[0] ?? '');
  });
  const said = [0, 1].map((rank) => readFileSync(join(head, `logs/rank-${rank}.log`), 'utf8'));
  expect(said).toEqual(['from 0\nfrom 1\nfrom 2\n', 'from 0\nfrom 1\nfrom 2\n']);
  expect(readFileSync(join(other, 'code/out/last.json'), 'utf8')).toBe('{"step": 1}');
  expect(readFileSync(join(other, 'code/new/last.json'), 'utf8')).toBe('{"step": 2}');
  const copies = eventsOf(head).filter(({ kind }) => kind === 'shared');
  expect(copies).toHaveLength(2);
  expect(copies[0]).toMatchObject({ folder: 'out', hosts: [second?.host], files: 1, bytes: 11 });
  expect(copies[1]).toMatchObject({ folder: 'new', files: 1 });
});

test('a folder that cannot be one is refused before anything starts', async () => {
  const refused = await trainyard('run', 'lab', '--share', '../out', '--', 'true');
  expectExit(refused, 2);
  expect(refused.stderr).toContain('--share must not have an empty part');
  const training = await trainyard('run', 'lab', '--share', 'out', '--', 'train', '--model', 'mlp');
  expectExit(training, 2);
  expect(training.stderr).toContain('is a verb of the trainer');
});
