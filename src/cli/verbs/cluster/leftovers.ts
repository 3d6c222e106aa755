import { posix } from 'node:path';
import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import type { NodePath } from '../../../core/base/nodePath.js';
import { cleanNode, type Cleaned } from '../../../core/setup/clean.js';
import { givenWorkdir } from '../../../core/profiles/workdir.js';
import type { Args } from '../../args.js';
import type { Context, Verb } from '../../context.js';
import { demandYes, yesFlag } from '../../prompter.js';
import { errorWords } from '../../remedies.js';

interface Found {
  host: string;
  pid: number;
  what: string;
  state: 'found' | 'killed' | 'left';
}

function show(context: Context, all: readonly Found[]): void {
  for (const { host, pid, what, state } of all) {
    if (context.json) context.output.json({ type: 'process', host, pid, what, state });
    else context.output.line(`${host}: ${state === 'left' ? 'still there' : state} ${pid} (${what})`);
  }
}

export const killLeftovers: Verb = {
  verb: 'kill-leftovers',
  summary: 'ends processes of runs that nobody supervises any more, on every host',
  words: ['P'],
  flags: [
    { name: 'all', help: 'those of supervised runs too, which ends these runs; asks first' },
    { name: 'list', help: 'only list them' },
    yesFlag,
  ],
  details: [
    'A process counts when it carries the mark of a run below the workdir. Exits 5 when one cannot be ended, else 3 when a host could not be asked.',
  ],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const workdir = givenWorkdir(profile);
    const all = args.has('all');
    if (all && !args.has('list')) {
      const question = `End all runs of ${profile.name}, those under way too?`;
      await demandYes(args.has('yes'), question, `no process of ${profile.name} was ended`);
    }
    const { nodes } = context.machine;
    const perHost = await Promise.allSettled(
      nodes.map(async ({ name: host, node }): Promise<Found[]> => {
        const client = await node.client();
        if (args.has('list')) {
          const { runs } = await client.request('leftovers.list', { workdir });
          const chosen = runs.filter(({ supervised }) => all || !supervised);
          return chosen.flatMap(({ processes }) =>
            processes.map((one) => ({ host, ...one, state: 'found' })),
          );
        }
        const { killed, left } = await client.request('leftovers.kill', { workdir, all });
        return [
          ...killed.map((one): Found => ({ host, ...one, state: 'killed' })),
          ...left.map((one): Found => ({ host, ...one, state: 'left' })),
        ];
      }),
    );
    const found = perHost.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    show(context, found);
    const failed = perHost.flatMap((one, index) =>
      one.status === 'rejected' ? [{ host: nodes[index]?.name ?? '', error: one.reason as unknown }] : [],
    );
    for (const { host, error } of failed) context.output.note(`${host}: ${errorWords(error)}`);
    if (failed.length === 0 && found.length === 0 && !context.json) {
      context.output.line('nothing is left of any run');
    }
    if (found.some(({ state }) => state === 'left')) return exitCodes.failed;
    return failed.length > 0 ? exitCodes.connection : exitCodes.done;
  },
};

/** `kill-leftovers` leaves a run alone that somebody supervises. UserError (preflight). */
export function stillAlive(
  host: string,
  { dir, supervised }: { dir: string; supervised: boolean },
  profile: string,
): UserError {
  const what = `on ${host} processes of ${dir} are alive`;
  const hint = supervised
    ? `Stop the run: trainyard stop ${posix.basename(dir)} --profile ${profile}`
    : `End them: trainyard kill-leftovers ${profile}`;
  return new UserError('preflight', what, hint);
}

export const clean: Verb = {
  verb: 'clean',
  summary: 'removes agent, trainer, runtime and packages from every host of a cluster; its runs stay',
  words: ['P'],
  flags: [
    {
      name: 'packages',
      help: 'only the Python packages of your own programs (run --requirements); of this machine too',
    },
    { name: 'runs', help: 'the runs too, with their checkpoints; asks first', alternative: true },
    yesFlag,
  ],
  details: ['Refused while anything of a run is alive on a host. The next run installs what it needs.'],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const workdir = givenWorkdir(profile);
    if (args.has('packages')) return cleanPackages(context, args, workdir);
    const machine = demandCluster(context.machine, profile, 'Remove ~/.cache/trainyard by hand');
    if (args.has('runs')) {
      const question = `Delete all runs of ${profile.name} with their checkpoints?`;
      await demandYes(args.has('yes'), question, `nothing of ${profile.name} was removed`);
    }
    for (const { name, node } of machine.nodes) {
      const { runs } = await (await node.client()).request('leftovers.list', { workdir });
      const busy = runs.find(({ processes }) => processes.length > 0);
      if (!busy) continue;
      throw stillAlive(name, busy, profile.name);
    }
    for (const node of machine.nodes) {
      node.node.dispose(); // its agent is one of the files
      showRemoved(context, await cleanNode(node, { workdir, all: args.has('runs') }));
    }
    return exitCodes.done;
  },
};

async function cleanPackages(context: Context, args: Args, workdir: NodePath): Promise<number> {
  if (args.has('runs')) {
    const hint = 'Give one of them: without --packages they go with the runs';
    throw new UserError('usage', '--packages and --runs were both given', hint);
  }
  const done = await context.withProgress(async (progress) => {
    const cleaned: Cleaned[] = [];
    for (const node of context.machine.relayNodes) {
      cleaned.push(await cleanNode(node, { workdir, only: ['environments'] }, progress));
    }
    return cleaned;
  });
  for (const one of done) showRemoved(context, one);
  if (!context.json && done.every(({ removed }) => removed.length === 0)) {
    context.output.line('there are no packages of your own programs');
  }
  return exitCodes.done;
}

function showRemoved(context: Context, { host, removed }: Cleaned): void {
  if (context.json) context.output.json({ type: 'cleaned', host, removed });
  else for (const path of removed) context.output.line(`${host}: removed ${path}`);
}
