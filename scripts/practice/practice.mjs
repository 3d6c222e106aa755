// node scripts/practice/practice.mjs [--nodes N]: a cluster to practise on, on this one machine: a
// real sshd at 127.0.0.2 and on, each with a home of its own, without root. Homes stay, so that
// what a node needs is put there once.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { cache } from '../lib/paths.mjs';
import { main } from '../lib/shell.mjs';
import { ensureKey, startSshd } from './sshd.mjs';

/** @import { Sshd } from './sshd.mjs' */

/**
 * - `nodes`: how many; 3 when left out.
 * - `dir`: where homes and keys stay; a folder of the user's cache when left out.
 * - `environments`: for the sessions of each node, in their order.
 * @typedef {{
 *   nodes?: number,
 *   dir?: string,
 *   port?: number,
 *   portRange?: string,
 *   extraConfig?: string[],
 *   shell?: string,
 *   environments?: Record<string, string>[],
 * }} PracticeOptions
 * @typedef {Sshd & { name: string, home: string }} PracticeNode
 * @typedef {{ host: string, port: number, user: string, slots: number, identityFile: string }} PracticeHost
 * @typedef {{ name: string, kind: 'ssh', hosts: PracticeHost[], interface: string, portRange: string }} PracticeProfile
 * @typedef {{
 *   nodes: PracticeNode[],
 *   port: number,
 *   identityFile: string,
 *   knownHosts: string,
 *   profile: PracticeProfile,
 *   stop: () => Promise<void>,
 * }} PracticeCluster
 */

const firstPort = 2222;
/** @param {number} index */
const addressOf = (index) => `127.0.0.${index + 2}`;

/**
 * @param {string} address
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(address, port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, address, () => probe.close(() => resolve(true)));
  });
}

/**
 * Resolves with what `start` resolves with, given the first port that is free on all of them. Between
 * the look and the start somebody else may take the port: then the next one is tried.
 * @template T
 * @param {readonly string[]} addresses
 * @param {(port: number) => Promise<T>} start
 * @returns {Promise<T>}
 */
async function onFreePort(addresses, start) {
  for (let port = firstPort; port < firstPort + 200; ++port) {
    const free = await Promise.all(addresses.map((address) => isFree(address, port)));
    if (!free.every(Boolean)) continue;
    try {
      return await start(port);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('Address already in use')) throw error;
    }
  }
  throw new Error(`no port from ${firstPort} on is free on ${addresses.join(', ')}. End what listens there.`);
}

/**
 * @param {readonly string[]} addresses
 * @param {number} port
 * @param {string} identityFile
 * @param {string} portRange
 * @returns {PracticeProfile}
 */
function profileOf(addresses, port, identityFile, portRange) {
  const user = userInfo().username;
  const hosts = addresses.map((host) => ({ host, port, user, slots: 1, identityFile }));
  return { name: 'practice', kind: 'ssh', hosts, interface: 'lo', portRange };
}

/**
 * `stop()` ends every sshd and what was started through them.
 * @param {PracticeOptions} [options]
 * @returns {Promise<PracticeCluster>}
 */
export async function startPracticeCluster({
  nodes: count = 3,
  dir = join(cache, 'practice'),
  port: wanted,
  portRange = '47000-47099',
  extraConfig,
  shell,
  environments,
} = {}) {
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw new Error('nodes must be a number from 1 to 100');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const identityFile = join(dir, 'id_ed25519');
  ensureKey(identityFile, 'trainyard practice');
  const authorizedKey = readFileSync(`${identityFile}.pub`, 'utf8');
  const addresses = Array.from({ length: count }, (_, index) => addressOf(index));
  /** @param {number} port */
  const startOn = async (port) => {
    const started = await Promise.allSettled(
      addresses.map(async (address, index) => {
        const name = `practice-${index + 1}`;
        const home = join(dir, name, 'home');
        const stateDir = join(dir, name, 'sshd');
        const environment = environments?.[index];
        const own = { address, port, home, stateDir, environment };
        const sshd = await startSshd({ ...own, authorizedKey, extraConfig, shell });
        return { name, home, ...sshd };
      }),
    );
    const nodes = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const stop = async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    };
    const failure = started.find((result) => result.status === 'rejected');
    if (failure) {
      await stop();
      throw failure.reason;
    }
    return { nodes, port, stop };
  };
  const { nodes, port, stop } = await (wanted === undefined
    ? onFreePort(addresses, startOn)
    : startOn(wanted));
  const knownHosts = join(dir, 'known_hosts');
  writeFileSync(knownHosts, nodes.map((node) => `[${node.address}]:${port} ${node.hostKey}\n`).join(''));
  const profile = profileOf(addresses, port, identityFile, portRange);
  return { nodes, port, identityFile, knownHosts, profile, stop };
}

/** Where Trainyard looks for profiles (docs/contracts/profiles.md). */
function profilesFile() {
  return join(process.env['TRAINYARD_HOME'] || join(homedir(), '.config', 'trainyard'), 'profiles.json');
}

const help = `usage: node scripts/practice/practice.mjs [--nodes N]

Starts a cluster to practise on, on this one machine: N nodes (1 to 100, by default 3), each a real
sshd at 127.0.0.2 and on with a home of its own, without root. Prints profiles.json with their
profile, and stays until Ctrl-C ends it. Homes stay.
`;

/** @param {number} count */
async function foreground(count) {
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  const cluster = await startPracticeCluster({ nodes: count });
  const { identityFile, knownHosts, port, profile } = cluster;
  process.stdout.write(`${JSON.stringify({ version: 1, profiles: [profile] }, undefined, 2)}\n`);
  const ssh = `ssh -F none -p ${port} -i ${identityFile} -o UserKnownHostsFile=${knownHosts} ${addressOf(0)}`;
  process.stderr.write(
    [
      '',
      `${count} nodes run. The lines above are a whole ${profilesFile()}: save them there,`,
      'or add the profile to those that the file has. Then:',
      `  trainyard trust ${profile.name} && trainyard check ${profile.name}`,
      'Or log in yourself:',
      `  ${ssh}`,
      'Ctrl-C ends them.',
      '',
    ].join('\n'),
  );
  const waiting = setInterval(() => undefined, 3_600_000);
  await interrupted;
  clearInterval(waiting);
  await cluster.stop();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(async () => {
    const { values } = parseArgs({
      options: { nodes: { type: 'string', default: '3' }, help: { type: 'boolean', default: false } },
    });
    if (values.help) process.stdout.write(help);
    else await foreground(Number(values.nodes));
  });
}
