// Trainings that tests keep going until they end them compute as fast as they can, while the tests
// wait for something else. So these trainers leave the processors to whatever else wants them. For
// vitest's `globalSetup`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';

/** No test waits for so many steps. */
const endless = 1_000_000;
const everyMs = 500;

/** Of a process of another user, of one that has ended, or of a change right after another. */
const passing = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EAGAIN'];

function orElse<T>(otherwise: T, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    const { code = '', info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
    if (!passing.includes(info?.code ?? code)) throw error;
    return otherwise;
  }
}

const read = (path: string): string => orElse('', () => readFileSync(path, 'utf8'));

/** A training of the tests, whose programs or folders are below the system's temporary folder. */
function isEndless(pid: string): boolean {
  if (read(`/proc/${pid}/comm`) !== 'trainer\n') return false;
  const argv = read(`/proc/${pid}/cmdline`).split('\0');
  if (!argv.some((word) => word.startsWith(`${tmpdir()}/`))) return false;
  return Number(argv[argv.indexOf('--steps') + 1]) >= endless;
}

/**
 * Linux shares the processors among sessions first, and each rank has a session of its own. So the
 * priority of a process counts within its session only, and the session has a priority too.
 */
function lowerSession(pid: string): void {
  const file = `/proc/${pid}/autogroup`;
  if (!read(file).endsWith(' nice 0\n')) return;
  orElse(undefined, () => {
    writeFileSync(file, String(constants.priority.PRIORITY_BELOW_NORMAL));
  });
}

function lower(pid: string): void {
  lowerSession(pid);
  for (const thread of orElse([], () => readdirSync(`/proc/${pid}/task`))) {
    orElse(undefined, () => {
      setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
    });
  }
}

export default function endlessYield(): () => void {
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc')) {
      if (/^\d+$/.test(pid) && isEndless(pid)) lower(pid);
    }
  }, everyMs);
  return () => {
    clearInterval(timer);
  };
}
