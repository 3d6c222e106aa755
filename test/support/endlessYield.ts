// Trainings that tests keep going until they end them compute as fast as they can, while the tests
// wait for something else. So these trainers leave the processors to whatever else wants them. For
// vitest's `globalSetup`.
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { codeOf } from '../../scripts/lib/errors.mjs';

/** No test waits for so many steps. */
const endless = 1_000_000;
const everyMs = 500;

/** What /proc says of a process; nothing where it has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return '';
    throw error;
  }
}

function isEndless(pid: string): boolean {
  if (read(`/proc/${pid}/comm`) !== 'trainer\n') return false;
  const argv = read(`/proc/${pid}/cmdline`).split('\0');
  return Number(argv[argv.indexOf('--steps') + 1]) >= endless;
}

/** Of their processes only those of whoever runs the tests. */
function lower(pid: string): void {
  try {
    setPriority(Number(pid), constants.priority.PRIORITY_BELOW_NORMAL);
  } catch (error) {
    const { info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
    if (!['ESRCH', 'EACCES', 'EPERM'].includes(info?.code ?? '')) throw error;
  }
}

export default function endlessYield(): () => void {
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc')) if (/^\d+$/.test(pid) && isEndless(pid)) lower(pid);
  }, everyMs);
  return () => {
    clearInterval(timer);
  };
}
