// Trainings that tests keep going until they end them compute as fast as they can, while the tests
// wait for something else. So these trainers leave the processors to whatever else wants them. For
// vitest's `globalSetup`.
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { codeOf } from '../../scripts/lib/errors.mjs';

/** No test waits for so many steps. */
const endless = 1_000_000;
const everyMs = 500;

/** Of another user, or ended meanwhile. */
const passing = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (passing.includes(codeOf(error) ?? '')) return '';
    throw error;
  }
}

/** A training of the tests, whose programs or folders are below the system's temporary folder. */
function isEndless(pid: string): boolean {
  if (read(`/proc/${pid}/comm`) !== 'trainer\n') return false;
  const argv = read(`/proc/${pid}/cmdline`).split('\0');
  if (!argv.some((word) => word.startsWith(`${tmpdir()}/`))) return false;
  return Number(argv[argv.indexOf('--steps') + 1]) >= endless;
}

function threadsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (passing.includes(codeOf(error) ?? '')) return [];
    throw error;
  }
}

function lower(thread: string): void {
  try {
    setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
  } catch (error) {
    const { info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
    if (!passing.includes(info?.code ?? '')) throw error;
  }
}

export default function endlessYield(): () => void {
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc')) {
      if (/^\d+$/.test(pid) && isEndless(pid)) threadsOf(pid).forEach(lower);
    }
  }, everyMs);
  return () => {
    clearInterval(timer);
  };
}
