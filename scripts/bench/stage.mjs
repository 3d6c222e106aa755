// npm run bench:stage [-- --files N --megabytes N --rounds N]: a folder of the head to the own
// disks of four practice nodes by `trainyard stage`, beside rsync to each in turn, interleaved in
// the same minutes. Then the same once more, with one file changed, and after a kill in the middle.
// Prints medians and ratios; exit 1, with OVER where a limit is not held.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median } from './support/statistics.mjs';
import { startPracticeCluster } from '../practice/practice.mjs';
import { root } from '../lib/paths.mjs';
import { main, step } from '../lib/shell.mjs';

const nodes = 4;
/** Bytes out of the source over those of the data; how much of rsync's time ours may take. */
const limits = { source: 1.1, beside: 0.5 };

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    megabytes: { type: 'string', default: '750' },
    rounds: { type: 'string', default: '3' },
  },
});
const files = Number(values.files);
const megabytes = Number(values.megabytes);
const rounds = Number(values.rounds);
if (!(files >= 200 && megabytes >= 1 && rounds >= 1))
  throw new Error('--files is a number from 200, --megabytes and --rounds are from 1');

/**
 * 100 folders of files of one size, whose bytes differ.
 * @param {string} folder
 */
function makeFolder(folder) {
  const bytes = Math.round((megabytes * 1e6) / files);
  const content = randomBytes(bytes);
  for (let index = 0; index < files; index++) {
    const sub = join(folder, String(index % 100));
    if (index < 100) mkdirSync(sub, { recursive: true });
    content.write(String(index));
    writeFileSync(join(sub, `${index}.jpg`), content);
  }
}

/**
 * What `trainyard stage --json` says at its end.
 * @typedef {{ files: number, bytes: number, fromSource: number, nodes: { host: string, files: number }[] }} Staged
 */

main(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-bench-stage-'));
  const cluster = await startPracticeCluster({ dir, nodes });
  try {
    const home = join(dir, 'trainyard');
    mkdirSync(home, { mode: 0o700 });
    copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
    writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [cluster.profile] }));
    const from = join(dir, 'from');
    makeFolder(from);
    await setTimeout(2500); // files that were changed a moment ago are sent once more
    const cli = [join(root, 'dist/trainyard.cjs'), 'stage', cluster.profile.name, from, '~/ours', '--json'];
    const env = { ...process.env, TRAINYARD_HOME: home };

    /** @returns {{ seconds: number, staged: Staged }} */
    const ours = () => {
      const began = performance.now();
      const output = execFileSync(process.execPath, cli, {
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return { seconds: (performance.now() - began) / 1000, staged: JSON.parse(output) };
    };
    const rsync = () => {
      const began = performance.now();
      const { identityFile, knownHosts, port } = cluster;
      const ssh = `ssh -F none -p ${port} -i ${identityFile} -o UserKnownHostsFile=${knownHosts}`;
      for (const { address, home } of cluster.nodes)
        execFileSync('rsync', ['-a', '-e', ssh, `${from}/`, `${address}:${home}/rsync/`]);
      return (performance.now() - began) / 1000;
    };
    /** @param {string} name */
    const clear = (name) => {
      for (const { home } of cluster.nodes) rmSync(join(home, name), { recursive: true, force: true });
    };

    /** @type {{ ours: number[], rsync: number[], source: number[] }} */
    const found = { ours: [], rsync: [], source: [] };
    for (let round = 1; round <= rounds; round++) {
      step(`round ${round}: ${files} files, ${megabytes} MB, to ${nodes} nodes`);
      clear('ours');
      clear('rsync');
      found.rsync.push(rsync());
      clear('rsync');
      const { seconds, staged } = ours();
      found.ours.push(seconds);
      found.source.push(staged.fromSource / staged.bytes);
      process.stdout.write(`rsync ${found.rsync.at(-1)?.toFixed(2)} s, ours ${seconds.toFixed(2)} s\n`);
    }
    const again = ours();
    writeFileSync(join(from, '0/0.jpg'), 'changed');
    const changed = ours();
    const resent = changed.staged.nodes.map((node) => node.files).join(', ');

    step('killed in the middle');
    clear('ours');
    const child = spawn(process.execPath, cli, { env, stdio: 'ignore' });
    const last = join(
      cluster.nodes.at(-1)?.home ?? '',
      `ours/50/${50 + 100 * Math.floor(files / 200 - 1)}.jpg`,
    );
    while (!existsSync(last) && child.exitCode === null) await setTimeout(5);
    child.kill('SIGKILL');
    await setTimeout(4000); // the nodes see that nobody listens
    const resumed = ours();
    const missing = resumed.staged.nodes.map((node) => node.files);

    const ratio = median(found.ours) / median(found.rsync);
    const source = Math.max(...found.source);
    const wrong =
      again.staged.nodes.some((node) => node.files > 0) ||
      changed.staged.nodes.some((node) => node.files !== 1);
    const over = [
      ratio > limits.beside,
      source > limits.source,
      wrong,
      missing.every((count) => count === files),
    ];
    /** @param {number} index */
    const mark = (index) => (over[index] ? '  OVER' : '');
    process.stdout.write(
      `ours ${median(found.ours).toFixed(2)} s, rsync to each in turn ${median(found.rsync).toFixed(2)} s: ` +
        `${ratio.toFixed(2)}x its time, limit ${limits.beside}${mark(0)}\n` +
        `out of the source: ${source.toFixed(3)}x the data, limit ${limits.source}${mark(1)}\n` +
        `again ${again.seconds.toFixed(2)} s; one file changed ${changed.seconds.toFixed(2)} s, files to each node: ${resent}${mark(2)}\n` +
        `after a kill, files to each node: ${missing.join(', ')} of ${files}, ` +
        `${(resumed.staged.fromSource / resumed.staged.bytes).toFixed(2)}x the data out of the source${mark(3)}\n`,
    );
    if (over.includes(true)) process.exitCode = 1;
  } finally {
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
