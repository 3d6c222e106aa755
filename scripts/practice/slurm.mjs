// node scripts/practice/slurm.mjs: a Slurm to practise on, on this one machine: munge, a controller
// and compute nodes n1, n2, … of a real Slurm, and a sshd at 127.0.0.2 as login node. Needs root,
// since each node's slurmd starts jobs as their users. Accounts are not kept (sacct needs a
// database); what is over is in the controller's memory for some minutes, and in `jobcomp`.
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort } from '../lib/freePort.mjs';
import { capture, has, main, run } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';
import { startPracticeCluster } from './practice.mjs';
import { endProcesses, marked } from './processTree.mjs';

/** @import { PracticeCluster } from './practice.mjs' */
/** @import { ChildProcess } from 'node:child_process' */

/**
 * - `nodes`: how many compute nodes; 2 when left out.
 * - `cpus`: of each, as Slurm is told; 4 when left out.
 * - `driver`: the version of NVIDIA's driver that each compute node says it has. None when left
 *   out.
 * - `environment`: of sessions on the login node.
 * @typedef {{
 *   dir?: string,
 *   nodes?: number,
 *   cpus?: number,
 *   driver?: string,
 *   environment?: Record<string, string>,
 * }} SlurmOptions
 * `disk` is a folder of which each node has its own content, which lies in `diskOf` here.
 * @typedef {{
 *   dir: string,
 *   login: PracticeCluster,
 *   env: Record<string, string>,
 *   profile: object,
 *   disk: string,
 *   diskOf: (node: string) => string,
 *   ask: (program: string, ...words: string[]) => string,
 *   stop: () => Promise<void>,
 * }} PracticeSlurm
 */

const markName = 'PRACTICE_SLURM';
const programs = ['slurmctld', 'slurmd', 'munged', 'sbatch', 'scontrol'];
const folders = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
const isThere = () =>
  programs.every((name) => capture('sh', ['-c', `PATH="${folders}" command -v ${name}`]).ok);

/** Why no Slurm can be practised on here; undefined where it can. */
export function whyNoSlurm() {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!isThere() && !has('apt-get')) return 'Slurm is not installed';
  return undefined;
}

/** Installs Debian's Slurm and munge where they are not there. */
export function ensureSlurm() {
  if (process.getuid?.() !== 0) return; // the tests are skipped, and say why
  ensureSystemPackages([
    { package: 'slurm-wlm', present: isThere },
    { package: 'munge', present: isThere },
  ]);
}

/**
 * @param {string} dir
 * @param {number} nodes
 * @param {number} cpus
 * @param {readonly number[]} ports of the controller, and of each node
 */
function configuration(dir, nodes, cpus, ports) {
  const host = hostname().split('.')[0];
  const names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
  return [
    'ClusterName=practice',
    `SlurmctldHost=${host}(127.0.0.1)`,
    `SlurmctldPort=${ports[0]}`,
    'SlurmUser=root',
    'AuthType=auth/munge',
    // A job that was requeued waits until its old credential is no longer valid.
    `AuthInfo=socket=${dir}/munge/socket,cred_expire=5`,
    'CryptoType=crypto/munge',
    `StateSaveLocation=${dir}/state`,
    `SlurmdSpoolDir=${dir}/spool-%n`,
    `SlurmctldPidFile=${dir}/slurmctld.pid`,
    `SlurmdPidFile=${dir}/slurmd-%n.pid`,
    'SlurmdParameters=config_overrides',
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core',
    'SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,sched_min_interval=0',
    'ReturnToService=2',
    'GresTypes=gpu',
    'SwitchType=switch/none',
    'MpiDefault=none',
    'AccountingStorageType=accounting_storage/none',
    'JobCompType=jobcomp/filetxt',
    `JobCompLoc=${dir}/jobcomp`,
    // A job of higher priority begins so many seconds after it took the nodes.
    'KillWait=15',
    'MinJobAge=300',
    'PreemptType=preempt/partition_prio',
    'PreemptMode=REQUEUE',
    'OverTimeLimit=0',
    ...names.map(
      (name, index) =>
        `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.${index + 11} Port=${ports[index + 1]} CPUs=${cpus} RealMemory=4000 Gres=gpu:2`,
    ),
    `PartitionName=work Nodes=${names.join(',')} Default=YES MaxTime=1:00:00 State=UP PriorityTier=1`,
    `PartitionName=urgent Nodes=${names.join(',')} MaxTime=1:00:00 State=UP PriorityTier=10 PreemptMode=OFF`,
    '',
  ].join('\n');
}

/**
 * A program that stays in the foreground, marked so that all it starts ends with it.
 * @param {string} log
 * @param {Record<string, string>} env
 * @param {readonly string[]} argv
 */
function daemon(log, env, argv) {
  const line = `exec "$@" >>"$0" 2>&1`;
  return spawn('sh', ['-c', line, log, ...argv], { detached: true, stdio: 'ignore', env });
}

/**
 * @param {string} what
 * @param {() => boolean} probe
 * @param {readonly ChildProcess[]} children
 * @param {string} log
 */
async function until(what, probe, children, log) {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(100)) {
    if (probe()) return;
    if (children.some((child) => child.exitCode !== null || child.signalCode !== null)) break;
  }
  const said = existsSync(log) ? readFileSync(log, 'utf8').trim().slice(-1500) : '';
  throw new Error(`${what} did not come up: ${said}`);
}

/**
 * Each compute node has a boot id and a disk of its own, as another machine has.
 * @param {string} dir
 * @param {string} name
 * @param {string | undefined} driver
 */
function asOtherMachine(dir, name, driver) {
  const bootId = join(dir, `boot-${name}`);
  writeFileSync(bootId, `${randomUUID()}\n`);
  const line = `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  ${driver ?? ''}  Release Build`;
  const mounts = [
    ...['mount --bind "$1" /proc/sys/kernel/random/boot_id', 'mount --bind "$2" "$3"'],
    ...(driver === undefined
      ? []
      : [
          'mount -t tmpfs none /proc/driver',
          'mkdir /proc/driver/nvidia',
          'echo "$4" > /proc/driver/nvidia/version',
        ]),
    ...['shift 4', 'exec "$@"'],
  ].join(' && ');
  const disks = [join(dir, `disk-${name}`), join(dir, 'disk')];
  return ['unshare', '--mount', 'sh', '-c', mounts, 'sh', bootId, ...disks, line];
}

/**
 * `stop()` ends everything that was started, jobs among them, and removes what it made.
 * @param {SlurmOptions} [options]
 * @returns {Promise<PracticeSlurm>}
 */
export async function startPracticeSlurm({ dir: given, nodes = 2, cpus = 4, driver, environment } = {}) {
  ensureSlurm();
  const dir = given ?? mkdtempSync(join(tmpdir(), 'trainyard-slurm-'));
  chmodSync(dir, 0o711); // munge's socket is for all users
  for (const name of ['munge', 'state']) mkdirSync(join(dir, name), { recursive: true, mode: 0o711 });
  writeFileSync(join(dir, 'munge/key'), randomBytes(128), { mode: 0o600 });
  // Slurm sets CUDA_VISIBLE_DEVICES where a GPU's file is a device. Each is another /dev/null.
  for (const name of ['gpu0', 'gpu1']) run('mknod', [join(dir, name), 'c', '1', '3']);
  const ports = [];
  while (ports.length <= nodes) ports.push(await freePort());
  const names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
  for (const name of ['disk', ...names.map((node) => `disk-${node}`)]) mkdirSync(join(dir, name));
  writeFileSync(join(dir, 'slurm.conf'), configuration(dir, nodes, cpus, ports));
  writeFileSync(join(dir, 'gres.conf'), `NodeName=${names.join(',')} Name=gpu File=${dir}/gpu[0-1]\n`);
  const mark = randomUUID();
  const own = { SLURM_CONF: join(dir, 'slurm.conf') };
  const env = { PATH: folders, ...own, [markName]: mark };
  /** @param {string} name */
  const log = (name) => join(dir, `${name}.log`);
  /** @param {string} program @param {string[]} words */
  const ask = (program, ...words) => {
    const answer = capture(program, words, { env });
    if (!answer.ok) throw new Error(`${program} ${words.join(' ')}: ${answer.stderr.trim()}`);
    return answer.stdout;
  };
  /** @type {PracticeCluster | undefined} */
  let login;
  const stop = async () => {
    await login?.stop();
    await endProcesses(() => marked(markName, mark));
    if (given === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
  try {
    const munge = ['key', 'socket', 'pid', 'log', 'seed'].map((name) => join(dir, 'munge', name));
    const [key, socket, pid, mungeLog, seed] = munge;
    const mungeWords = [`--key-file=${key}`, `--socket=${socket}`, `--pid-file=${pid}`];
    const words = ['munged', '-F', ...mungeWords, `--log-file=${mungeLog}`, `--seed-file=${seed}`];
    const children = [daemon(log('munged'), env, words)];
    await until('munged', () => existsSync(socket ?? ''), children, log('munged'));
    children.push(daemon(log('slurmctld'), env, ['slurmctld', '-D', '-c']));
    for (const name of names)
      children.push(
        daemon(log(name), env, [...asOtherMachine(dir, name, driver), 'slurmd', '-D', '-N', name]),
      );
    const idle = () =>
      capture('sinfo', ['-h', '-p', 'work', '-t', 'idle', '-o', '%D'], { env }).stdout.trim() ===
      String(nodes);
    await until('Slurm', idle, children, log('slurmctld'));
    login = await startPracticeCluster({
      dir: join(dir, 'login'),
      nodes: 1,
      environments: [{ ...own, ...environment }],
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const [host] = login.profile.hosts;
  const profile = {
    ...{ name: 'slurm', kind: 'slurm', hosts: [host], interface: 'lo', portRange: '47400-47499' },
    slurm: { partition: 'work', time: '10:00' },
  };
  const disk = join(dir, 'disk');
  return { dir, login, env, profile, ask, stop, disk, diskOf: (node) => `${disk}-${node}` };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(async () => {
    const interrupted = new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
    });
    const slurm = await startPracticeSlurm();
    process.stdout.write(`${JSON.stringify(slurm.profile, undefined, 2)}\n`);
    process.stderr.write(
      `\nSlurm runs. Put the profile into profiles.json. To ask it yourself:\n  SLURM_CONF=${slurm.dir}/slurm.conf sinfo\nCtrl-C ends it.\n`,
    );
    const waiting = setInterval(() => undefined, 3_600_000);
    await interrupted;
    clearInterval(waiting);
    await slurm.stop();
  });
}
