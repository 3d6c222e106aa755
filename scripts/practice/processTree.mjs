// Processes that came of one: its descendants, and those that carry a mark in their environment.
// Each is known by pid and start time, so that a number that was given out again is never
// signalled.
import { readFileSync, readdirSync } from 'node:fs';

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) return undefined; // ended, or not ours
    throw error;
  }
}

/** Parent, state and start time; nothing when there is no such process. */
function status(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], parent: Number(fields[1]), started: fields[19] };
}

const pids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function known(pid, { started }) {
  const alive = () => {
    const now = status(pid);
    return now !== undefined && now.started === started && now.state !== 'Z';
  };
  return { pid, alive };
}

export function descendants(root) {
  const all = pids()
    .map((pid) => ({ pid, ...status(pid) }))
    .filter(({ started }) => started !== undefined);
  const found = new Set([root]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => pid !== root && found.has(pid)).map((entry) => known(entry.pid, entry));
}

/** Processes of this user whose environment at their start held NAME=VALUE. */
export function marked(name, value) {
  return pids()
    .filter(
      (pid) => pid !== process.pid && read(`/proc/${pid}/environ`)?.split('\0').includes(`${name}=${value}`),
    )
    .map((pid) => ({ pid, now: status(pid) }))
    .filter(({ now }) => now !== undefined)
    .map(({ pid, now }) => known(pid, now))
    .filter((entry) => entry.alive());
}

/** Whether there was such a process. */
export function signalled(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error.code === 'ESRCH') return false;
    throw error;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** TERM, then KILL, until `find` finds none: what is ended may have started another meanwhile. */
export async function endProcesses(find, patience = 2000) {
  const gentle = Date.now() + patience;
  const end = gentle + 10_000;
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
