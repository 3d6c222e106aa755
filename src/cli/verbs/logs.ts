import { exitCodes, UserError } from '../../core/base/errors.js';
import type { AgentClient } from '../../core/agent/agentClient.js';
import type { RunDetails } from '../../core/contracts/agentApi.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import { LogTimes, TimedLogs, timesFile } from '../../core/follow/logTimes.js';
import { RunFollower } from '../../core/follow/run.js';
import {
  byText,
  chooseLogs,
  readLog,
  readLogLines,
  runLogs,
  startOfLastLines,
  type RunLog,
} from '../../core/follow/runLogs.js';
import { barCallbacks, progressEvery } from '../../core/follow/runOutput.js';
import { lastSegment, ProgressBars } from '../../core/streams/progressBars.js';
import type { TailLine } from '../../core/streams/tail.js';
import type { Args } from '../args.js';
import type { Context, Verb } from '../context.js';
import { lineSearch } from '../lineSearch.js';
import { join, type NodePath } from '../../core/base/nodePath.js';

export const logs: Verb = {
  verb: 'logs',
  summary: 'shows what the ranks of a run print, each line with its rank',
  words: ['RUN'],
  flags: [
    {
      name: 'source',
      value: 'A,B',
      help: 'only these: a rank, eval, supervisor, mpiexec, slurm or tensorboard',
    },
    { name: 'lines', value: 'N', help: 'only the last N lines of each' },
    { name: 'grep', value: 'REGEX', help: 'only lines in which this regular expression is found' },
    { name: 'ignore-case', help: 'with --grep: capitals do not matter' },
    { name: 'follow', help: 'go on with what comes, until the run ends; Ctrl-C leaves it running' },
    { name: 'times', help: "begin each line with the time at which it was written, in this machine's zone" },
    { name: 'raw', help: 'of one source: its bytes as they are, without labels' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'Existing output is printed rank by rank; followed lines are printed as they come in. A time is that of the clock of the node that ran the rank.',
    'Without --source: all ranks and the evaluator. Example: trainyard logs last --source 0,3 --lines 50 --follow',
    [
      '--grep searches the whole logs, or with --lines the last N lines of each.',
      'Where no line matches, the exit code is 5.',
      'Example: trainyard logs last --grep "nan|out of memory" --ignore-case',
    ].join(' '),
  ],
  async run(context, args) {
    const search = searchOf(args);
    const { dir } = await context.resolveRun(args);
    const client = await context.node.client();
    const details = await client.request('run.get', { dir });
    const lines = lineCount(args.value('lines'));
    const wanted = args.value('source')?.split(',');
    const chosen = chooseLogs(runLogs(details.files), wanted);
    if (wanted === undefined) sayWhereElse(context, details.files, chosen);
    const parts = await Promise.all(
      chosen.map(async ({ file, source }) => {
        const path = join(dir, file);
        const size = details.files[file] ?? 0;
        const start = lines === undefined ? 0 : await startOfLastLines(client, path, size, lines);
        return { file, source, path, size, start };
      }),
    );
    if (args.has('raw')) return showRaw(context, args, client, parts);
    const width = Math.max(...chosen.map(({ source }) => source.length), 'rank-0'.length);
    const withTimes = args.has('times');
    let isFound = search === undefined;
    const show: Show = (source, { offset, text }, time) => {
      if (search && !search(lastSegment(text))) return;
      isFound = true;
      if (context.json) {
        context.output.json({ type: 'log', source, offset, text, ...(withTimes ? { time } : {}) });
      } else {
        const stamp = withTimes ? `${stampOf(time)} ` : '';
        context.output.line(`${stamp}${source.padEnd(width)} | ${lastSegment(text)}`);
      }
    };
    if (args.has('follow')) {
      const starts = new Map(parts.map(({ file, start }) => [file, start]));
      await follow(context, dir, { wanted, starts, show, withTimes });
      return ending(context, isFound);
    }
    for (const { file, source, path, ...range } of parts) {
      const times = withTimes ? await timesOf(client, dir, file, details.files) : undefined;
      await readLogLines(client, path, range, (line) => {
        show(source, line, times?.of(line.offset) ?? null);
      });
    }
    return ending(context, isFound);
  },
};

/** Whether a line is asked for; undefined where all are. */
function searchOf(args: Args): ((line: string) => boolean) | undefined {
  const pattern = args.value('grep');
  if (pattern !== undefined) return lineSearch(pattern, args.has('ignore-case'));
  if (!args.has('ignore-case')) return undefined;
  throw new UserError('usage', '--ignore-case stands beside --grep', 'Say what to search with --grep REGEX');
}

function ending(context: Context, isFound: boolean): number {
  if (isFound) return exitCodes.done;
  context.output.note('no line matches');
  return exitCodes.failed;
}

/** Where no rank has printed anything, which other logs have text. */
function sayWhereElse(
  context: Context,
  files: Readonly<Record<string, number>>,
  chosen: readonly RunLog[],
): void {
  const { withText } = byText(runLogs(files), files);
  if (withText.length === 0 || withText.some(({ file }) => chosen.some((one) => one.file === file))) return;
  const sources = withText.map(({ source }) => source).join(',');
  context.output.note(`no rank has printed anything yet. Other logs: --source ${sources}`);
}

/** `time` in seconds since the epoch; null where nobody knows. */
type Show = (source: string, line: TailLine, time: number | null) => void;

async function timesOf(
  client: AgentClient,
  dir: NodePath,
  log: string,
  files: Readonly<Record<string, number>>,
): Promise<LogTimes> {
  const times = new LogTimes();
  const file = timesFile(log);
  const size = file === log ? undefined : files[file];
  if (size === undefined) return times; // of an older version, or no log of a rank
  await readLogLines(client, join(dir, file), { start: 0, size }, ({ text }) => {
    times.take(text);
  });
  return times;
}

/** `2026-11-24 00:31:05.123` in this machine's zone, and as many blanks where there is no time. */
function stampOf(time: number | null): string {
  if (time === null) return ' '.repeat(23);
  const milliseconds = Math.round(time * 1000);
  const local = new Date(milliseconds - new Date(milliseconds).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 23).replace('T', ' ');
}

function lineCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new UserError('usage', `--lines ${text} is no count`, 'Write a whole number above 0');
}

async function showRaw(
  context: Context,
  args: Args,
  client: AgentClient,
  parts: readonly { path: NodePath; start: number; size: number }[],
): Promise<number> {
  const [part, ...more] = parts;
  if (
    !part ||
    more.length > 0 ||
    args.has('follow') ||
    args.has('times') ||
    context.json ||
    args.has('grep')
  ) {
    const hint = 'Example: trainyard logs last --source 0 --raw';
    throw new UserError(
      'usage',
      '--raw shows one source, as far as it was written, without times, a search and JSON',
      hint,
    );
  }
  await readLog(client, part.path, part, (piece) => {
    context.output.bytes(piece);
  });
  return exitCodes.done;
}

interface Following {
  wanted: readonly string[] | undefined;
  /** Of the files that were there: where to begin. */
  starts: ReadonlyMap<string, number>;
  show: Show;
  withTimes: boolean;
}

async function follow(context: Context, dir: NodePath, following: Following): Promise<void> {
  const { wanted, starts, show, withTimes } = following;
  const store = new DisposableStore();
  const timed = store.add(new TimedLogs());
  const every = context.output.width === undefined ? progressEvery.other : progressEvery.terminal;
  const present = ({ files }: RunDetails): RunLog[] => {
    const all = runLogs(files);
    return wanted ? all.filter(({ file }) => starts.has(file)) : chooseLogs(all);
  };
  const follower = store.add(
    new RunFollower({
      dir,
      client: () => context.node.client(),
      logger: context.logger,
      extras: (details) =>
        present(details).flatMap(({ file, source }) => {
          const bars = new ProgressBars((text, time) => {
            show(source, { offset: 0, text }, time);
          }, every);
          const onLine = (line: TailLine, time: number | null): void => {
            if (context.json) show(source, line, time);
            else bars.line(line.text, time);
          };
          const { onUnfinished, onProgress } = barCallbacks(bars);
          const showUnfinished = (text: string, offset: number): void => {
            show(source, { offset, text }, null);
          };
          const unended = context.json ? { onUnfinished: showUnfinished } : { onUnfinished, onProgress };
          const times = withTimes ? details.files : {};
          return timed.files(file, starts.get(file) ?? 0, times, onLine, unended);
        }),
    }),
  );
  follower.onConnection((change) => {
    context.output.note(change === 'lost' ? 'the connection was lost; trying again' : 'connected again');
  });
  try {
    await follower.follow();
  } finally {
    store.dispose();
  }
}
