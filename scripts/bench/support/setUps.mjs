// Set-ups of one machine that are made to have one bottleneck each, and reports of them by real runs.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { root } from '../../lib/paths.mjs';
import { withSlowRank } from '../../practice/slowRank.mjs';
import { trainer } from '../../demo/data.mjs';

/**
 * @typedef {object} SetUp
 * @property {string} name
 * @property {string} expected  the bottleneck's name
 * @property {RegExp} [words]  what its sentence is to say
 * @property {string[]} train  flags
 * @property {string} replicas
 * @property {Record<string, unknown>} [profile]
 * @property {string} [rate]  of tc's tbf on the loopback interface of a namespace
 * @property {boolean} [slowRank]  rank 1 runs for a third of the time
 */

const namespace = `ty-setup-${process.pid}`;
/** Ranks of one machine then talk by TCP, and share no memory. */
export const overTcp = {
  MPIR_CVAR_NOLOCAL: '1',
  MPIR_CVAR_CH4_SHM_ENABLE: '0',
  MPIR_CVAR_CH4_NETMOD: 'ofi',
  FI_PROVIDER: 'tcp',
};
export const overLoopback = { ...overTcp, FI_TCP_IFACE: 'lo' };
const resnet = ['--model', 'resnet20', '--data', 'synthetic'];
/** @param {string} folder */
const imagesOf = (folder) => join(folder, 'images');

/**
 * @param {string} folder
 * @returns {SetUp[]}
 */
const setUps = (folder) => [
  { name: 'healthy', expected: 'none', replicas: '1,2', train: [...resnet, '--batch-size', '32'] },
  {
    name: 'slow-input',
    expected: 'input',
    replicas: '1,2',
    train: [
      ...['--model', 'mlp', '--data', join(imagesOf(folder), 'train')],
      // At the usual rate the loss of long runs overflows.
      ...['--loader-threads', '1', '--batch-size', '8', '--lr', '0.0001'],
    ],
  },
  {
    name: 'small-batch',
    expected: 'batch',
    replicas: '1,2',
    train: ['--model', 'mlp', '--data', 'synthetic', '--batch-size', '1'],
  },
  {
    name: 'many-ranks',
    expected: 'cores',
    replicas: '1,8',
    train: [...resnet, '--batch-size', '32'],
    profile: { hosts: [{ host: 'here', slots: 8 }] },
  },
  {
    name: 'slow-link',
    expected: 'link',
    replicas: '1,2',
    train: [...resnet, '--batch-size', '16'],
    profile: { env: overLoopback },
    rate: '100mbit',
  },
  {
    name: 'slow-rank',
    expected: 'slowRank',
    words: /^Rank 1 on /,
    replicas: '1,2',
    train: [...resnet, '--batch-size', '32'],
    slowRank: true,
  },
];

/**
 * Calls `work` with each set-up, or with those of the names, and a folder that is removed at the end.
 * @param {readonly string[]} names
 * @param {(setUp: SetUp, folder: string) => Promise<void>} work
 */
export async function eachSetUp(names, work) {
  const folder = mkdtempSync(join(tmpdir(), 'ty-setup-'));
  const known = setUps(folder);
  const chosen = known.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length === 0) throw new Error(`set-ups are: ${known.map(({ name }) => name).join(', ')}`);
  try {
    if (chosen.some(({ name }) => name === 'slow-input')) {
      const prep = ['prep', '--from', 'demo:2x20', '--to', imagesOf(folder), '--image-size', '1024'];
      execFileSync(trainer, prep, { stdio: 'ignore' });
    }
    for (const setUp of chosen) {
      if (setUp.rate !== undefined && userInfo().uid !== 0) {
        process.stdout.write(`${setUp.name}: skipped, since a shaped link needs root\n`);
        continue;
      }
      const measure = () => shapedLink(setUp.rate, () => work(setUp, folder));
      await (setUp.slowRank ? withSlowRank(folder, measure) : measure());
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What a report wrote as JSON. Called by the work of `eachSetUp`.
 * @template T
 * @param {SetUp} setUp
 * @param {string} home  a new folder for profile, runs and report
 * @param {'scaling' | 'bakeoff'} kind
 * @param {readonly string[]} flags
 * @returns {Promise<T>}
 */
export async function report(setUp, home, kind, flags) {
  const out = join(home, 'report');
  const train = ['--out', out, '--', 'train', '--device', 'cpu', ...setUp.train];
  await cli(setUp, home, ['report', kind, 'local', ...flags, ...train]);
  return JSON.parse(readFileSync(join(out, `${kind}.json`), 'utf8'));
}

/**
 * What `trainyard` prints in a set-up. Called by the work of `eachSetUp`.
 * @param {SetUp} setUp
 * @param {string} home  a folder for profile and runs
 * @param {readonly string[]} verb  with its words
 * @returns {Promise<string>}
 */
export function cli({ name, profile, rate }, home, verb) {
  mkdirSync(home, { recursive: true });
  const local = { name: 'local', kind: 'local', workdir: join(home, 'work'), ...profile };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [local] }));
  const words = [process.execPath, join(root, 'dist', 'trainyard.cjs'), ...verb];
  const [command = '', ...args] = rate === undefined ? words : ['ip', 'netns', 'exec', namespace, ...words];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TRAINYARD_HOME: home },
    });
    let printed = '';
    let said = '';
    child.stdout.on('data', (chunk) => (printed += chunk));
    child.stderr.on('data', (chunk) => (said += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`${name} ended with exit ${code}: ${said}`));
    });
  });
}

/**
 * Makes a namespace with such a link where there is a rate, and removes it after `work`.
 * @param {string | undefined} rate
 * @param {() => Promise<void>} work
 */
async function shapedLink(rate, work) {
  if (rate === undefined) return work();
  execFileSync('ip', ['netns', 'add', namespace]);
  try {
    execFileSync('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
    const tbf = ['root', 'tbf', 'rate', rate, 'burst', '256kb', 'latency', '100ms'];
    execFileSync('ip', ['netns', 'exec', namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', ...tbf]);
    await work();
  } finally {
    execFileSync('ip', ['netns', 'delete', namespace]);
  }
}
