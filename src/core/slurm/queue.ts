// What Slurm's programs print, in the forms that versions 20.11 to 25.05 share. All of them are
// asked with TZ=UTC, so a time without a zone is one of UTC.

/** The format for `squeue -h -o`. The reason is last, since it is text. */
export const squeueFormat = '%i|%T|%S|%L|%P|%Q|%N|%r';
/** The fields for `sacct -n -P -X -o`. */
export const sacctFields = 'JobIDRaw,State,ExitCode,NodeList';

/** A job that is in the queue: it waits, runs, or is about to end. */
export interface QueuedJob {
  id: string;
  /** Slurm's word, for example PENDING. */
  state: string;
  /** Slurm's word for why it waits; empty where there is none. */
  reason: string;
  /** Seconds since the epoch; of a job that waits, what Slurm expects. */
  start: number | undefined;
  secondsLeft: number | undefined;
  partition: string;
  priority: number;
  nodes: string;
}

/** A job that Slurm still knows after its end. */
export interface EndedJob {
  id: string;
  /** Slurm's word, for example TIMEOUT. */
  state: string;
  /** Exit code and signal of the batch script. */
  exitCode: number;
  signal: number;
  nodes: string;
}

/** The lines that have anything in them. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
/** `(null)`, `N/A`, `None` and the like stand for nothing. */
const empty = /^(?:\(null\)|N\/A|n\/a|None|NONE|NULL)?$/;
/** Without the blanks around it; empty for what stands for nothing. */
export const wordOf = (text: string): string => (empty.test(text.trim()) ? '' : text.trim());

/** Seconds since the epoch of a time in UTC as Slurm prints it; undefined for `N/A` and `Unknown`. */
export function timeOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text.trim())) return undefined;
  return Date.parse(`${text.trim()}Z`) / 1000;
}

/** Seconds of `2-03:04:05`, `3:04:05`, `04:05`; undefined for `UNLIMITED`, `INVALID` and the like. */
export function durationOf(text: string): number | undefined {
  const found = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)$/.exec(text.trim());
  if (!found) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** What `squeue -h -o` prints in `squeueFormat`. A line that is none of its lines is left out. */
export function parseSqueue(text: string): QueuedJob[] {
  return linesOf(text).flatMap((line) => {
    const [id = '', state = '', start = '', left = '', partition = '', priority = '', nodes = '', ...reason] =
      line.trim().split('|');
    if (reason.length === 0 || !/^\d+/.test(id)) return [];
    return [
      {
        id,
        state: stateWord(state),
        reason: wordOf(reason.join('|')),
        start: timeOf(start),
        secondsLeft: durationOf(left),
        partition,
        priority: Number(priority) || 0,
        nodes: wordOf(nodes),
      },
    ];
  });
}

/** `CANCELLED by 1000` is CANCELLED, and `RUNNING+` RUNNING. */
const stateWord = (text: string): string => /^[A-Z_]+/.exec(text.trim())?.[0] ?? '';

/** `1:9` is exit code 1 and signal 9. */
function exitOf(text: string): { exitCode: number; signal: number } {
  const [code, signal] = text.split(':').map(Number);
  return { exitCode: code ?? 0, signal: signal ?? 0 };
}

/**
 * What `scontrol show job -o ID` prints; undefined where there is no job in it. A job's name is the
 * run's id, so no text of a user stands before the fields that are read.
 */
export function parseScontrolJob(text: string): (EndedJob & { reason: string }) | undefined {
  const field = (name: string): string | undefined => new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(text)?.[1];
  const id = field('JobId');
  const state = field('JobState');
  if (id === undefined || state === undefined) return undefined;
  const reason = wordOf(field('Reason') ?? '');
  const nodes = wordOf(field('NodeList') ?? '');
  return { id, state: stateWord(state), reason, nodes, ...exitOf(field('ExitCode') ?? '') };
}

/**
 * What `sacct -n -P -X` prints in `sacctFields`. A job that was requeued has several lines, of which
 * the last one counts.
 */
export function parseSacct(text: string): EndedJob[] {
  const jobs = linesOf(text).flatMap((line) => {
    const [id = '', state = '', exit = '', nodes = ''] = line.trim().split('|');
    if (!/^\d+/.test(id)) return [];
    return [
      { id, state: stateWord(state), nodes: wordOf(nodes).replace('None assigned', ''), ...exitOf(exit) },
    ];
  });
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}
