// Processes that came of one: its descendants, and those that carry a mark in their environment.
// Each is known by pid and start time, so that a number that was given out again is never
// signalled.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../lib/errors.mjs';

/**
 * `started` is the kernel's, in clock ticks since its own start.
 * @typedef {{ state: string, parent: number, started: string }} Status
 * @typedef {{ pid: number, alive: () => boolean }} Known
 */

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return undefined; // ended, or not ours
    throw error;
  }
}

/**
 * Parent, state and start time; nothing when there is no such process.
 * @param {number} pid
 * @returns {Status | undefined}
 */
function status(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), started: fields[19] ?? '' };
}

const pids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/**
 * @param {number} pid
 * @param {Status} status
 * @returns {Known}
 */
function known(pid, { started }) {
  const alive = () => {
    const now = status(pid);
    return now !== undefined && now.started === started && now.state !== 'Z';
  };
  return { pid, alive };
}

/** @param {number} root */
export function descendants(root) {
  const all = pids().flatMap((pid) => {
    const now = status(pid);
    return now === undefined ? [] : [{ pid, ...now }];
  });
  const found = new Set([root]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => pid !== root && found.has(pid)).map((entry) => known(entry.pid, entry));
}

/**
 * Processes of this user whose environment at their start held NAME=VALUE.
 * @param {string} name
 * @param {string} value
 */
export function marked(name, value) {
  return pids()
    .filter(
      (pid) => pid !== process.pid && read(`/proc/${pid}/environ`)?.split('\0').includes(`${name}=${value}`),
    )
    .flatMap((pid) => {
      const now = status(pid);
      return now === undefined ? [] : [known(pid, now)];
    })
    .filter((entry) => entry.alive());
}

/**
 * Whether there was such a process.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function signalled(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/**
 * TERM, then KILL, until `find` finds none: what is ended may have started another meanwhile.
 * @param {() => readonly Known[]} find
 * @param {number} [patience]
 */
export async function endProcesses(find, patience = 2000) {
  const gentle = Date.now() + patience;
  const end = gentle + 10_000;
  /** @type {Set<number>} */
  const asked = new Set();
  for (let left = find(); left.length > 0; left = find()) {
    if (Date.now() > end)
      throw new Error(`processes that cannot be ended: ${left.map(({ pid }) => pid).join(', ')}`);
    for (const { pid } of left) {
      if (Date.now() > gentle) signalled(pid, 'SIGKILL');
      else if (!asked.has(pid)) {
        asked.add(pid);
        signalled(pid, 'SIGTERM');
        signalled(pid, 'SIGCONT'); // a stopped one would never see it
      }
    }
    await pause(30);
  }
}
