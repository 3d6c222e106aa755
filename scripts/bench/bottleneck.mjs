// npm run bench:bottleneck: set-ups that are made to have one bottleneck each, measured by
// `trainyard report scaling` with real runs; prints what each is named, and fails where a name is
// wrong. Needs two quiet cores, and root for the shaped link. Names after -- choose set-ups.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { trainer } from '../demo/data.mjs';

/**
 * @typedef {{ bottleneck: { kind: string, words: string } | null, efficiency: { replicas: number, efficiency: { median: number } }[] }} Derived
 * @typedef {object} SetUp
 * @property {string} name
 * @property {string} expected  the bottleneck's name
 * @property {string[]} train  flags
 * @property {string} replicas
 * @property {Record<string, unknown>} [profile]
 * @property {string} [rate]  of tc's tbf on the loopback interface of a namespace
 */

const folder = mkdtempSync(join(tmpdir(), 'ty-bottleneck-'));
const namespace = `ty-bottleneck-${process.pid}`;
const images = join(folder, 'images');
/** Ranks of one host then talk by TCP over the loopback interface. */
const overTcp = {
  MPIR_CVAR_NOLOCAL: '1',
  MPIR_CVAR_CH4_SHM_ENABLE: '0',
  MPIR_CVAR_CH4_NETMOD: 'ofi',
  FI_PROVIDER: 'tcp',
  FI_TCP_IFACE: 'lo',
};
const resnet = ['--model', 'resnet20', '--data', 'synthetic'];

/** @type {SetUp[]} */
const setUps = [
  { name: 'healthy', expected: 'none', replicas: '1,2', train: [...resnet, '--batch-size', '32'] },
  {
    name: 'slow-input',
    expected: 'input',
    replicas: '1,2',
    train: ['--model', 'mlp', '--data', join(images, 'train'), '--loader-threads', '1', '--batch-size', '8'],
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
    profile: { env: overTcp },
    rate: '100mbit',
  },
];

/**
 * @param {SetUp} setUp
 * @returns {Promise<Derived>}
 */
function measure({ name, train, replicas, profile, rate }) {
  const home = join(folder, name);
  const out = join(home, 'report');
  mkdirSync(home, { recursive: true });
  const local = { name: 'local', kind: 'local', workdir: join(home, 'work'), ...profile };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [local] }));
  const words = [
    ...[process.execPath, join(root, 'dist', 'trainyard.cjs'), 'report', 'scaling', 'local', '--weak'],
    ...['--replicas', replicas, '--steps', process.env['BENCH_STEPS'] ?? '40', '--out', out],
    ...['--remove-runs', '--', 'train', '--device', 'cpu', ...train],
  ];
  const [command = '', ...args] = rate === undefined ? words : ['ip', 'netns', 'exec', namespace, ...words];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TRAINYARD_HOME: home },
    });
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(readFileSync(join(out, 'scaling.json'), 'utf8')).report);
      else reject(new Error(`${name} ended with exit ${code}: ${said}`));
    });
  });
}

/** @param {string} rate */
function shape(rate) {
  execFileSync('ip', ['netns', 'add', namespace]);
  execFileSync('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
  const tbf = ['root', 'tbf', 'rate', rate, 'burst', '256kb', 'latency', '100ms'];
  execFileSync('ip', ['netns', 'exec', namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', ...tbf]);
}

main(async () => {
  ensureBuilt();
  const asked = process.argv.slice(2);
  const chosen = setUps.filter(({ name }) => asked.length === 0 || asked.includes(name));
  if (chosen.length === 0) throw new Error(`set-ups are: ${setUps.map(({ name }) => name).join(', ')}`);
  try {
    if (chosen.some(({ name }) => name === 'slow-input')) {
      const prep = ['prep', '--from', 'demo:2x20', '--to', images, '--image-size', '1024'];
      execFileSync(trainer, prep, { stdio: 'ignore' });
    }
    for (const setUp of chosen) {
      const { name, expected, rate } = setUp;
      if (rate !== undefined && userInfo().uid !== 0) {
        process.stdout.write(`${name}: skipped, since a shaped link needs root\n`);
        continue;
      }
      if (rate !== undefined) shape(rate);
      try {
        const { bottleneck, efficiency } = await measure(setUp);
        const kind = bottleneck?.kind ?? 'nothing';
        const last = efficiency.at(-1);
        const right = kind === expected;
        process.stdout.write(
          `${name}: ${kind}${right ? ', right' : `, WRONG: it is ${expected}`}; efficiency ${(100 * (last?.efficiency.median ?? 0)).toFixed(0)}% at ${last?.replicas ?? 0}; load ${loadavg()[0]?.toFixed(1) ?? ''}\n  ${bottleneck?.words ?? ''}\n`,
        );
        if (!right) process.exitCode = 1;
      } finally {
        if (rate !== undefined) execFileSync('ip', ['netns', 'delete', namespace]);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
