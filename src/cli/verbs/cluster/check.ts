import type { CheckResult } from '../../../core/base/checks.js';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import { nodePath } from '../../../core/base/nodePath.js';
import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { allReduceRow } from '../../../core/check/sums.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import type { CheckOptions } from '../../../core/cluster/nodes/machine.js';
import { checkAllReduce } from '../../../core/measure/deepCheck.js';
import { checkTable } from '../../../core/model/checkTable.js';
import type { Args } from '../../args.js';
import { checkLines } from '../../checkTable.js';
import type { Context, Verb } from '../../context.js';
import { yesFlag } from '../../prompter.js';
import { checkRecord } from '../../startWarnings.js';
import { fixChecks, fixNote } from './fixChecks.js';

/** Characters of a line where nobody says how many there are. */
const usualWidth = 100;

export const check: Verb = {
  verb: 'check',
  summary: 'says whether a run could start on a profile',
  words: ['P'],
  flags: [
    { name: 'deep', help: 'measures links, CPUs, free GPUs, the all-reduce and --data too' },
    { name: 'data', value: 'PATH', help: 'a file or folder that every node needs' },
    {
      name: 'fix',
      value: 'ROW',
      help: 'runs what mends this row of the table on its nodes (all: every row), after a yes, and checks again',
    },
    { name: 'hosts', value: 'A,B', help: '--fix on these hosts only' },
    { ...yesFlag, help: `--fix ${yesFlag.help}` },
  ],
  details: ['Exits 3 when a host cannot be reached, 4 when something else is missing, 5 when a fix failed.'],
  async run(context, args) {
    const row = args.value('fix');
    if (row === undefined && (args.has('hosts') || args.has('yes'))) {
      throw new UserError('usage', '--hosts and --yes are for --fix', 'Name the row to mend: --fix ROW');
    }
    const profile = await context.profile(args.words[0]);
    const { machine } = context;
    const results = await look(context, profile, args);
    if (row === undefined) {
      show(context, profile, results);
      return exitOf(results);
    }
    const cluster = demandCluster(machine, profile, 'Run here what the check says to do');
    const hosts = args.value('hosts')?.split(',');
    const isDone = await fixChecks(context, cluster, results, { row, hosts, yes: args.has('yes') });
    const after = await look(context, profile, args);
    show(context, profile, after);
    return isDone ? exitOf(after) : exitCodes.failed;
  },
};

const look = (context: Context, profile: Profile, args: Args): Promise<CheckResult[]> =>
  context.withProgress(async (progress) => {
    const { machine } = context;
    const options = optionsOf(args);
    const results = await machine.check(profile, progress, options);
    if (options.deep !== true) return results;
    return [...results, ...(await checkAllReduce(machine, profile, results, progress))];
  });

function optionsOf(args: Args): CheckOptions {
  const data = args.value('data');
  return { deep: args.has('deep'), ...(data === undefined ? {} : { data: nodePath(data) }) };
}

function show(context: Context, profile: Profile, results: readonly CheckResult[]): void {
  const { output, machine } = context;
  if (context.json) {
    for (const result of results) output.json(checkRecord(result));
    return;
  }
  const nodes = machine.nodes.map(({ name }) => name);
  for (const line of checkLines(checkTable(results, nodes), output.width ?? usualWidth)) output.line(line);
  for (const { name, host, ok, detail } of results) {
    if (name === allReduceRow && ok && host === undefined) output.line(`${name}: ${detail}`);
  }
  const note = fixNote(profile.name, results);
  if (note !== undefined) output.line(note);
}

function exitOf(results: readonly CheckResult[]): number {
  const bad = results.filter(({ ok }) => !ok);
  if (bad.length === 0) return exitCodes.done;
  return bad.some(({ name }) => name === 'connection') ? exitCodes.connection : exitCodes.preflight;
}
