import { exitCodes, UserError } from '../../core/base/errors.js';
import type { AgentClient } from '../../core/agent/agentClient.js';
import type { RunDetails } from '../../core/contracts/agentApi.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import { RunFollower } from '../../core/follow/run.js';
import {
  chooseLogs,
  readLog,
  readLogLines,
  runLogs,
  startOfLastLines,
  type RunLog,
} from '../../core/follow/runLogs.js';
import type { Args } from '../args.js';
import type { Context, Verb } from '../context.js';
import { join, type NodePath } from '../../core/base/nodePath.js';

export const logs: Verb = {
  verb: 'logs',
  summary: 'shows what the ranks of a run print, each line with its rank',
  words: ['RUN'],
  flags: [
    { name: 'source', value: 'A,B', help: 'only these: a rank, eval, supervisor, mpiexec or tensorboard' },
    { name: 'lines', value: 'N', help: 'only the last N lines of each' },
    { name: 'follow', help: 'go on with what comes, until the run ends; Ctrl-C leaves it running' },
    { name: 'raw', help: 'of one source: its bytes as they are, without labels' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'Logs carry no times: what was written before comes rank by rank, what is followed in the order in which it arrives.',
    'Without --source: all ranks and the evaluator. Example: trainyard logs last --source 0,3 --lines 50 --follow',
  ],
  async run(context, args) {
    const { dir } = await context.resolveRun(args);
    const client = await context.node.client();
    const details = await client.request('run.get', { dir });
    const lines = lineCount(args.value('lines'));
    const wanted = args.value('source')?.split(',');
    const chosen = chooseLogs(runLogs(details.files), wanted);
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
    const show = (source: string, offset: number, text: string): void => {
      if (context.json) context.output.json({ type: 'log', source, offset, text });
      else context.output.line(`${source.padEnd(width)} | ${text}`);
    };
    if (args.has('follow')) {
      const starts = new Map(parts.map(({ file, start }) => [file, start]));
      return follow(context, dir, { wanted, starts, show });
    }
    for (const { source, path, ...range } of parts) {
      await readLogLines(client, path, range, ({ offset, text }) => {
        show(source, offset, text);
      });
    }
    return exitCodes.done;
  },
};

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
  if (!part || more.length > 0 || args.has('follow') || context.json) {
    const hint = 'Example: trainyard logs last --source 0 --raw';
    throw new UserError('usage', '--raw shows one source, as far as it was written, and no JSON', hint);
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
  show: (source: string, offset: number, text: string) => void;
}

async function follow(context: Context, dir: NodePath, { wanted, starts, show }: Following): Promise<number> {
  const store = new DisposableStore();
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
        present(details).map(({ file, source }) => ({
          name: file,
          start: starts.get(file) ?? 0,
          onLine: ({ offset, text }) => {
            show(source, offset, text);
          },
          onReset: () => undefined,
        })),
    }),
  );
  follower.onConnection((change) => {
    context.output.note(change === 'lost' ? 'the connection was lost; trying again' : 'connected again');
  });
  try {
    await follower.follow();
    return exitCodes.done;
  } finally {
    store.dispose();
  }
}
