// A run's logs: which there are, and their lines. The files are raw bytes of what each process
// printed; when, is in files beside them (logTimes.ts).
import { UserError } from '../base/errors.js';
import { ByteTail, type TailLine } from '../streams/tail.js';
import type { AgentClient } from '../agent/agentClient.js';
import { pieceBytes, readRemote } from '../agent/remoteFile.js';
import type { NodePath } from '../base/nodePath.js';

/** One log file of a run. */
export interface RunLog {
  /** In the run folder. */
  file: string;
  /** `rank-3`, `eval`, `supervisor`, `mpiexec`, `tensorboard`; `slurm`, what Slurm's job printed. */
  source: string;
}

/** Those among a run's files: ranks by number, then the evaluator, then the others by name. */
export function runLogs(files: Readonly<Record<string, number>>): RunLog[] {
  return Object.keys(files)
    .flatMap((file) => {
      const source = /^logs\/([^/]+)\.log$/.exec(file)?.[1] ?? /^(supervisor|slurm)\.log$/.exec(file)?.[1];
      return source === undefined ? [] : [{ file, source }];
    })
    .sort((a, b) => place(a) - place(b) || a.source.localeCompare(b.source));
}

const others = ['eval', 'supervisor', 'mpiexec', 'slurm'];

function place({ source }: RunLog): number {
  const rank = rankOf(source);
  if (rank !== undefined) return rank - 1e9;
  const at = others.indexOf(source);
  return at < 0 ? others.length : at;
}

/** Those with text and those without, each in the order of `logs`. */
export function byText(
  logs: readonly RunLog[],
  files: Readonly<Record<string, number>>,
): { withText: RunLog[]; empty: RunLog[] } {
  const hasText = ({ file }: RunLog): boolean => (files[file] ?? 0) > 0;
  return { withText: logs.filter(hasText), empty: logs.filter((log) => !hasText(log)) };
}

/** Of a source that is a rank. */
export function rankOf(source: string): number | undefined {
  const rank = /^rank-(\d+)$/.exec(source)?.[1];
  return rank === undefined ? undefined : Number(rank);
}

/**
 * Those of these sources, `3` standing for `rank-3`; without any, those of the ranks and the
 * evaluator. UserError (usage) naming what there is.
 */
export function chooseLogs(logs: readonly RunLog[], wanted?: readonly string[]): RunLog[] {
  if (!wanted) {
    return logs.filter(({ source }) => rankOf(source) !== undefined || source === 'eval');
  }
  return wanted.map((given) => {
    const source = /^\d+$/.test(given) ? `rank-${Number(given)}` : given;
    const log = logs.find((each) => each.source === source);
    if (log) return log;
    const known = logs.map((each) => each.source).join(', ');
    const hint = known === '' ? 'Try again in a moment' : `It has ${known}`;
    throw new UserError('usage', `the run has no log of ${given}`, hint);
  });
}

/**
 * Byte offset of the last `lines` lines of the first `size` bytes; an unfinished one at the end
 * counts.
 */
export async function startOfLastLines(
  client: AgentClient,
  path: NodePath,
  size: number,
  lines: number,
): Promise<number> {
  let found = 0;
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - pieceBytes);
    const piece = await readRemote(client, path, from, end - from);
    // The newline at the very end ends a line and begins none.
    for (let at = piece.length - 1 - (end === size ? 1 : 0); at >= 0; at--) {
      if (piece[at] === 10 && ++found === lines) return from + at + 1;
    }
    end = from;
  }
  return 0;
}

/** Requests under way at the same time, so that a distant node does not slow each one. */
const piecesAtOnce = 8;

/**
 * Reads the bytes from `start` up to `size` and calls back with them in order, at most `pieceBytes`
 * at a time. At most `piecesAtOnce` times `pieceBytes` are in memory.
 */
export async function readLog(
  client: AgentClient,
  path: NodePath,
  { start, size }: { start: number; size: number },
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  for (let at = start; at < size;) {
    const end = Math.min(size, at + piecesAtOnce * pieceBytes);
    const wanted: Promise<Buffer>[] = [];
    for (let from = at; from < end; from += pieceBytes) {
      wanted.push(readRemote(client, path, from, Math.min(pieceBytes, end - from)));
    }
    for (const piece of await Promise.all(wanted)) {
      onPiece(piece);
      at += piece.length;
      if (at < end && piece.length < pieceBytes) return; // it became shorter
    }
  }
}

/** The same as lines; the last one need not have ended. */
export async function readLogLines(
  client: AgentClient,
  path: NodePath,
  { start, size }: { start: number; size: number },
  onLine: (line: TailLine) => void,
): Promise<void> {
  const tail = new ByteTail(start);
  const give = (piece: Buffer): void => {
    for (const line of tail.push(tail.received, piece) ?? []) onLine(line);
  };
  let last: number | undefined;
  await readLog(client, path, { start, size }, (piece) => {
    give(piece);
    last = piece.at(-1);
  });
  if (last !== undefined && last !== 10) give(Buffer.from('\n'));
}
