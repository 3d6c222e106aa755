// npm run bench:ssh: our SSH beside OpenSSH's own client, to a real sshd on this machine,
// interleaved in the same minutes. Prints medians and ratios; exit 1, with OVER where a limit is
// not held.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rounds, speedBeside } from './ssh/rounds.mjs';
import { measureStalled, measureTunnel } from './ssh/tunnel.mjs';
import { measureLogin, measureUpload } from './ssh/upload.mjs';
import { World } from './ssh/world.mjs';
import { median } from './support/statistics.mjs';
import { root } from '../lib/paths.mjs';
import { main, step } from '../lib/shell.mjs';

const limits = { besideDefault: 0.9, besideSameCipher: 0.5, login: 1, stalledMb: 100 };
let held = true;

/**
 * @param {string} name
 * @param {number} value
 * @param {number} limit
 * @param {string} unit
 * @param {boolean} isHeld
 */
function row(name, value, limit, unit, isHeld) {
  if (!isHeld) held = false;
  process.stdout.write(
    `${name.padEnd(46)} ${value.toFixed(2).padStart(8)} ${unit}, limit ${limit}${isHeld ? '' : '  OVER'}\n`,
  );
}

/**
 * @param {number} number
 * @param {string} text
 */
const onRound = (number, text) => process.stdout.write(`round ${number}: ${text}\n`);
/**
 * @param {string} name
 * @param {readonly number[]} ours
 * @param {readonly number[]} other
 * @param {number} limit
 */
const speedRow = (name, ours, other, limit) => {
  const speed = speedBeside(ours, other);
  row(name, speed, limit, 'x', speed >= limit);
};

main(async () => {
  for (const name of ['ssh2.cjs', 'bin/agent', 'share/node/verbs.py'])
    if (!existsSync(join(root, 'dist', name)))
      throw new Error('the programs are missing. Run: npm run build');
  const world = await World.start();
  try {
    step('512 MB through a tunnel');
    const tunnel = await measureTunnel(world, onRound);
    step('300 MB in 2,008 files to the node, login and all');
    const upload = await measureUpload(world, onRound);
    step('from nothing to the end of `true` on the node');
    const login = await measureLogin(world, onRound);
    step('a tunnel whose reader has stopped');
    const stalled = await measureStalled(world);
    /** @param {readonly number[]} times */
    const rate = (times) => (512 / (median(times) / 1000)).toFixed(0);
    process.stdout.write(
      `median of ${rounds}: tunnel ${rate(tunnel.ours)} MB/s, ssh ${rate(tunnel.ssh)}, ssh with our cipher ${rate(tunnel.sameCipher)}; ` +
        `login ${median(login.ours).toFixed(0)} ms, ssh ${median(login.ssh).toFixed(0)} ms\n`,
    );
    speedRow('tunnel, beside ssh -L', tunnel.ours, tunnel.ssh, limits.besideDefault);
    speedRow(
      'tunnel, beside ssh -L with our cipher',
      tunnel.ours,
      tunnel.sameCipher,
      limits.besideSameCipher,
    );
    speedRow('folder, beside tar through ssh', upload.ours, upload.ssh, limits.besideDefault);
    speedRow(
      'folder, beside tar through ssh with our cipher',
      upload.ours,
      upload.sameCipher,
      limits.besideSameCipher,
    );
    speedRow('login, beside ssh', login.ours, login.ssh, limits.login);
    const megabytes = stalled / 1e6;
    row(
      'held by a tunnel whose reader has stopped',
      megabytes,
      limits.stalledMb,
      'MB',
      megabytes < limits.stalledMb,
    );
  } finally {
    await world.stop();
  }
  if (!held) process.exitCode = 1;
});
