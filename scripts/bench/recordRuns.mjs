// node scripts/bench/recordRuns.mjs [NAME…]: runs of different kinds for the test of the forecast,
// by the real command line and the real trainer. Ranks talk over a link of 100 Mbit/s, which sets
// their pace whatever else the cores have to do. Needs root, for the link is in a namespace. What
// each wrote of its course goes to test/fixtures/forecast/NAME.jsonl, with the command that made
// it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from '../lib/paths.mjs';
import { capture, main, run } from '../lib/shell.mjs';
import { trainer } from '../demo/data.mjs';
import { overLoopback } from './support/setUps.mjs';

/**
 * `killAt`: the step after which a rank is killed. `profile`: more of the profile.
 * @typedef {{ name: string, ranks?: number, train: string[], profile?: Record<string, unknown>, killAt?: number }} Kind
 */

const price = { pricePerNodeHour: 12.24, currency: 'USD' };
const fixtures = join(root, 'test', 'fixtures', 'forecast');
const recordedKinds = ['start', 'step', 'eval', 'checkpoint', 'end'];
const namespace = `ty${process.pid}-record`;
const rate = '100mbit';

/** @param {string} name */
const made = (name) => ['--model', name, '--device', 'cpu', '--threads', '1', '--log-every', '1'];
const [mlp, resnet] = [made('mlp'), made('resnet20')];
const synthetic = ['--data', 'synthetic', '--batch-size', '2'];
/** @param {string} folder */
const kindsIn = (folder) => {
  const files = ['--data', join(folder, 'images/train')];
  const evaluated = [...files, '--eval-data', join(folder, 'images/validation')];
  /** @type {Kind[]} */
  const kinds = [
    { name: 'mlp', train: [...mlp, ...synthetic, '--steps', '40'] },
    { name: 'resnet20', train: [...resnet, ...synthetic, '--steps', '100'] },
    { name: 'checkpoints', train: [...mlp, ...synthetic, '--steps', '40', '--checkpoint-every', '4'] },
    { name: 'evaluation-each-epoch', train: [...resnet, ...evaluated, '--batch-size', '8', '--epochs', '7'] },
    { name: 'evaluation-of-mlp', train: [...mlp, ...evaluated, '--batch-size', '24', '--epochs', '8'] },
    {
      name: 'three-ranks',
      ranks: 3,
      train: [...resnet, ...synthetic, '--steps', '60'],
      profile: { hosts: [{ host: 'here', slots: 3 }] },
    },
    {
      name: 'restart',
      train: [...resnet, ...synthetic, '--steps', '100', '--checkpoint-every', '15'],
      profile: { maxRestarts: 2 },
      killAt: 35,
    },
    {
      name: 'slow-start',
      train: [...mlp, ...synthetic, '--steps', '40'],
      profile: { prologue: 'sleep 5' },
    },
    { name: 'files', train: [...mlp, ...files, '--batch-size', '12', '--epochs', '4'] },
    {
      name: 'parameter-server',
      train: [...mlp, ...synthetic, '--steps', '40', '--strategy', 'parameter-server'],
    },
  ];
  return kinds;
};

/** A namespace in which ranks talk over a slow link. */
function makeNamespace() {
  run('ip', ['netns', 'add', namespace]);
  run('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
  const tbf = ['root', 'tbf', 'rate', rate, 'burst', '256kb', 'latency', '100ms'];
  run('ip', ['netns', 'exec', namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', ...tbf]);
}

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(path, 'utf8'));
/** @param {string} path */
const linesOf = (path) =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

/**
 * @param {string} dir  of the run
 * @param {number} step
 */
async function killRankAfter(dir, step) {
  for (;;) {
    const last = linesOf(join(dir, 'metrics.jsonl')).findLast(({ kind }) => kind === 'step');
    if (last !== undefined && last.step >= step) break;
    await pause(50);
  }
  const [rank] = json(join(dir, 'state.json')).ranks;
  process.kill(rank.pid, 'SIGKILL');
}

/**
 * @param {string} folder
 * @param {Kind} kind
 */
async function record(folder, { name, ranks = 2, train, profile, killAt }) {
  const home = join(folder, name);
  const dir = join(home, 'run');
  mkdirSync(home, { recursive: true });
  const local = { name: 'local', kind: 'local', workdir: join(home, 'work'), ...price, env: overLoopback };
  writeFileSync(
    join(home, 'profiles.json'),
    JSON.stringify({ version: 1, profiles: [{ ...local, ...profile }] }),
  );
  const words = [
    ...['run', 'local', '--run-dir', dir, '--ranks', String(ranks)],
    ...['--', 'train', ...train],
  ];
  const inside = ['netns', 'exec', namespace, process.execPath, join(root, 'dist', 'trainyard.cjs')];
  const child = spawn('ip', [...inside, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TRAINYARD_HOME: home },
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (killAt !== undefined) await Promise.race([killRankAfter(dir, killAt), ended]);
  const code = await ended;
  if (code !== 0) throw new Error(`${name} ended with exit ${code}: ${said}`);
  const { started, ended: end, generation } = json(join(dir, 'state.json'));
  const { price: kept } = json(join(dir, 'run.json'));
  /** @param {string} word */
  const plain = (word) => word.replaceAll(home, '.').replaceAll(folder, '.');
  const head = {
    recordedBy: `node scripts/bench/recordRuns.mjs ${name}`,
    command: ['trainyard', ...words].map(plain).join(' '),
    ...{ started, ended: end, generation, price: kept },
  };
  const metrics = linesOf(join(dir, 'metrics.jsonl')).filter(({ kind: of }) => recordedKinds.includes(of));
  const lines = [head, ...metrics].map((line) => plain(JSON.stringify(line)));
  mkdirSync(fixtures, { recursive: true });
  writeFileSync(join(fixtures, `${name}.jsonl`), `${lines.join('\n')}\n`);
  process.stdout.write(`${name}: ${(end - started).toFixed(1)} s, ${metrics.length} lines\n`);
}

main(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-record-'));
  const names = process.argv.slice(2);
  const kinds = kindsIn(folder).filter(({ name }) => names.length === 0 || names.includes(name));
  try {
    run(trainer, ['prep', '--from', 'demo:3x100', '--to', join(folder, 'images'), '--image-size', '64'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    makeNamespace();
    for (const kind of kinds) await record(folder, kind);
  } finally {
    capture('ip', ['netns', 'delete', namespace]);
    rmSync(folder, { recursive: true, force: true });
  }
});
