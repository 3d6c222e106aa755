// One slow rank, made from outside: its process is stopped and let go on by signals, so that it
// runs for a third of the time. That needs no rights and no other core. Beside a load that leaves
// every rank less than a third of a core, it is not slower than the others.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds: the rank runs for one such part of three. */
const part = 20;
const parts = 3;
/** Looks for new ranks after so many parts. */
const looks = 9;
/** The rank that is slow. The report's figures are those of rank 0, which is to wait for it. */
const slow = 1;

/**
 * Rank 1's processes of runs that go on.
 * @param {readonly string[]} dirs  folders of runs
 * @returns {number[]}
 */
function slowProcesses(dirs) {
  return dirs.flatMap((dir) => {
    const path = join(dir, 'state.json');
    if (!existsSync(path)) return [];
    /** @type {{ ended: number | null, ranks: { rank: number, pid: number }[] }} */
    const { ended, ranks } = JSON.parse(readFileSync(path, 'utf8'));
    return ended === null ? ranks.filter(({ rank }) => rank === slow).map(({ pid }) => pid) : [];
  });
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The rank has ended meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Makes rank 1 of these runs slow until it is stopped.
 * @param {() => readonly string[]} dirs  folders of runs, asked for again and again
 * @returns {() => void}  ends it
 */
export function slowDown(dirs) {
  let ticks = 0;
  /** @type {number[]} */
  let pids = [];
  const timer = setInterval(() => {
    const stands = ticks % parts !== 0;
    if (ticks % looks === 0) pids = slowProcesses(dirs());
    for (const pid of pids) send(pid, stands ? 'SIGSTOP' : 'SIGCONT');
    ticks++;
  }, part);
  return () => {
    clearInterval(timer);
    for (const pid of pids) send(pid, 'SIGCONT');
  };
}

/**
 * Calls `work` while rank 1 of every run below `folder` is slow.
 * @param {string} folder  has working folders, at any depth
 * @param {() => Promise<void>} work
 */
export async function withSlowRank(folder, work) {
  const end = slowDown(() => runsBelow(folder));
  try {
    await work();
  } finally {
    end();
  }
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function runsBelow(folder) {
  const runs = join(folder, 'work', 'runs');
  if (existsSync(runs)) return readdirSync(runs).map((name) => join(runs, name));
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? runsBelow(join(folder, entry.name)) : [],
  );
}
