// Hosts on this machine as network namespaces, a real sshd in each, whose links are shaped: a rate
// by tc's tbf, or a delay by a switch of our own (many kernels have no netem). Needs root.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ensureKey, startSshd } from '../../practice/sshd.mjs';
import { overTcp } from './setUps.mjs';

/** @import { Sshd } from '../../practice/sshd.mjs' */
/** @import { ChildProcess } from 'node:child_process' */
/**
 * - `rate`: of what a host sends, as tc writes it.
 * - `milliseconds`: for which each frame is held back, in both directions.
 * @typedef {{ rate: string, burst: string } | { milliseconds: number }} Shape
 * @typedef {{ home: string, stop: () => Promise<void> }} ShapedHosts
 */

const prefix = `ty${process.pid}`;
const lan = `${prefix}-lan`;
/** The third number of the addresses: a range that is set aside for tests (198.18.0.0/15). */
const net = '198.18.251';
/** Frames are few and long: the switch reads each one. */
const longFrames = '60000';
/** @param {number} index */
const hostName = (index) => `${prefix}-h${index}`;
/** @param {number} index */
const addressOf = (index) => `${net}.${index + 10}`;

/** @param {readonly string[]} args */
const ip = (...args) => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/**
 * Brings a device up that lies in a host's namespace, as eth0.
 * @param {number} index
 */
function addressed(index) {
  const host = hostName(index);
  ip('-n', host, 'link', 'set', 'lo', 'up');
  ip('-n', host, 'addr', 'add', `${addressOf(index)}/24`, 'dev', 'eth0');
  ip('-n', host, 'link', 'set', 'eth0', 'up');
}

/**
 * A bridge, and what each host sends is slowed down.
 * @param {number} hosts
 * @param {string} rate
 * @param {string} burst
 */
function wireByRate(hosts, rate, burst) {
  ip('netns', 'add', lan);
  ip('-n', lan, 'link', 'add', 'br0', 'type', 'bridge');
  ip('-n', lan, 'link', 'set', 'br0', 'up');
  for (let index = 0; index < hosts; index++) {
    const host = hostName(index);
    ip('-n', host, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `p${index}`, 'netns', lan);
    ip('-n', lan, 'link', 'set', `p${index}`, 'master', 'br0', 'up');
    addressed(index);
    const tbf = ['root', 'tbf', 'rate', rate, 'burst', burst, 'latency', '200ms'];
    execFileSync('ip', ['netns', 'exec', host, 'tc', 'qdisc', 'add', 'dev', 'eth0', ...tbf]);
  }
  const own = ['type', 'veth', 'peer', 'name', prefix, 'netns', String(process.pid)];
  ip('-n', lan, 'link', 'add', 'up0', ...own);
  ip('-n', lan, 'link', 'set', 'up0', 'master', 'br0', 'up');
}

/**
 * A switch that holds back every frame.
 * @param {number} hosts
 * @param {number} milliseconds
 * @returns {Promise<ChildProcess>}
 */
async function wireByDelay(hosts, milliseconds) {
  const taps = Array.from({ length: hosts }, (_, index) => `${prefix}t${index}`);
  const program = join(import.meta.dirname, 'delay_switch.py');
  const child = spawn('python3', [program, String(milliseconds), ...taps, prefix], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the switch did not start');
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined); // it has started; whoever stops it ends it
  taps.forEach((tap, index) => {
    ip('link', 'set', tap, 'netns', hostName(index), 'name', 'eth0', 'mtu', longFrames);
    addressed(index);
  });
  ip('link', 'set', prefix, 'mtu', longFrames);
  return child;
}

/** What stands below it ends with it. */
function removeNamespaces() {
  for (const line of ip('netns', 'list').split('\n')) {
    const name = line.split(' ')[0] ?? '';
    if (name.startsWith(`${prefix}-`)) ip('netns', 'delete', name);
  }
}

/**
 * `home` is a TRAINYARD_HOME with a profile `shaped`, of one slot on each host. `runtime` is a
 * folder of runtimes that all hosts share.
 * @param {{ hosts: number, shape: Shape, runtime: string }} options
 * @returns {Promise<ShapedHosts>}
 */
export async function startShapedHosts({ hosts, shape, runtime }) {
  if (userInfo().uid !== 0) throw new Error('network namespaces need root');
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-shaped-'));
  /** @type {Sshd[]} */
  const servers = [];
  /** @type {ChildProcess | undefined} */
  let between;
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    if (between && between.exitCode === null) {
      const gone = once(between, 'exit');
      between.stdin?.end();
      await gone;
    }
    removeNamespaces();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (let index = 0; index < hosts; index++) ip('netns', 'add', hostName(index));
    if ('rate' in shape) wireByRate(hosts, shape.rate, shape.burst);
    else between = await wireByDelay(hosts, shape.milliseconds);
    ip('addr', 'add', `${net}.1/24`, 'dev', prefix);
    ip('link', 'set', prefix, 'up');
    const identityFile = join(dir, 'id_ed25519');
    ensureKey(identityFile, 'bench');
    const authorizedKey = readFileSync(`${identityFile}.pub`, 'utf8');
    for (let index = 0; index < hosts; index++) {
      const home = join(dir, `host${index}`, 'home');
      mkdirSync(join(home, '.trainyard'), { recursive: true, mode: 0o700 });
      symlinkSync(runtime, join(home, '.trainyard', 'runtime'));
      const stateDir = join(dir, `host${index}`, 'sshd');
      const own = ['ip', 'netns', 'exec', hostName(index)];
      const at = { address: '0.0.0.0', port: 22, home, stateDir };
      servers.push(await startSshd({ ...at, authorizedKey, prefix: own }));
    }
    const known = servers.map(({ hostKey }, index) => `${addressOf(index)} ${hostKey}\n`);
    const home = join(dir, 'trainyard');
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, 'known_hosts'), known.join(''));
    const user = userInfo().username;
    const profile = {
      ...{ name: 'shaped', kind: 'ssh', interface: 'eth0', env: overTcp },
      hosts: servers.map((_, index) => ({ host: addressOf(index), user, slots: 1, identityFile })),
    };
    writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
    return { home, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
