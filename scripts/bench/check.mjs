// npm run bench:check: `trainyard check` of 32 nodes (or of as many as stand after --) beside what
// a person would type: one ssh to each node, all at once, that prints a few facts and compares
// nothing. The nodes are an sshd each on this machine, and share a disk, so all their work is done
// by the cores of this machine too. Prints the seconds of both and their ratio.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ensureBuilt } from '../build/prepare.mjs';
import { root } from '../lib/paths.mjs';
import { main, step } from '../lib/shell.mjs';
import { startPracticeCluster } from '../practice/practice.mjs';
import { ensureSshd } from '../practice/sshd.mjs';
import { median } from './support/statistics.mjs';

/** @import { PracticeCluster } from '../practice/practice.mjs' */

const rounds = 3;
/** Seconds that a check of 32 nodes may take. */
const most = 10;
const facts =
  'uname -r; nproc; python3 -V; df -P ~; df -Pi ~; free -m; ulimit -n; ulimit -u; date +%s.%N; df /dev/shm';

/**
 * Seconds that a program took. Rejects where it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<number>}
 */
function timed(command, args, env = process.env) {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve((performance.now() - started) / 1000);
      else reject(new Error(`${command} ended with exit ${code}: ${said.slice(-2000)}`));
    });
  });
}

/** @param {PracticeCluster} cluster */
async function bySsh({ profile, identityFile, knownHosts }) {
  const started = performance.now();
  await Promise.all(
    profile.hosts.map(({ host, port }) => {
      const options = [
        '-F',
        'none',
        '-p',
        String(port),
        '-i',
        identityFile,
        '-o',
        `UserKnownHostsFile=${knownHosts}`,
      ];
      return timed('ssh', [...options, '-o', 'BatchMode=yes', host, facts]);
    }),
  );
  return (performance.now() - started) / 1000;
}

main(async () => {
  const nodes = Number(process.argv[2] ?? 32);
  ensureBuilt();
  await ensureSshd();
  const folder = mkdtempSync(join(tmpdir(), 'ty-check-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  step(`${nodes} nodes`);
  const config = ['MaxStartups 200'];
  const cluster = await startPracticeCluster({ nodes, dir: join(folder, 'nodes'), extraConfig: config });
  try {
    copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
    const profile = { ...cluster.profile, workdir: join(folder, 'shared') };
    writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
    const env = { ...process.env, TRAINYARD_HOME: home };
    const check = () =>
      timed(process.execPath, [join(root, 'dist', 'trainyard.cjs'), 'check', profile.name], env);
    process.stdout.write(`first check, which installs: ${(await check()).toFixed(1)} s\n`);
    /** @type {number[]} */
    const ours = [];
    /** @type {number[]} */
    const theirs = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await check());
      theirs.push(await bySsh(cluster));
    }
    const [own, other] = [median(ours), median(theirs)];
    process.stdout.write(
      `check of ${nodes} nodes: ${own.toFixed(1)} s; ssh to each for a few facts: ${other.toFixed(1)} s; ratio ${(own / other).toFixed(2)}; load ${loadavg()[0]?.toFixed(1) ?? ''}\n`,
    );
    const holds = ours.every((seconds) => seconds < most) ? 'holds' : 'does not hold';
    if (nodes === 32)
      process.stdout.write(
        `each of ${rounds} checks under ${most} s ${holds}: ${ours.map((each) => each.toFixed(1)).join(', ')} s\n`,
      );
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
