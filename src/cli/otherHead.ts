// --head of trainyard resume: the run goes on under another head.
import { matchRun } from '../core/agent/runRegistry.js';
import { UserError } from '../core/base/errors.js';
import { moveHead, runsUnder, withHead, withHeadNow, type MovedRun } from '../core/cluster/moveHead.js';
import { headName } from '../core/cluster/nodes/hosts.js';
import type { RunEntry } from '../core/contracts/agentApi.js';
import type { Args } from './args.js';
import type { Context } from './context.js';

/**
 * The run that RUN names, once `host` is its head; the machine of `context` is that with the new
 * head, and the profile is saved so. UserError (usage, connection), AgentError, Cancelled.
 */
export async function underOtherHead(context: Context, args: Args, host: string): Promise<MovedRun> {
  const text = args.words[0] ?? '';
  const before = await context.profileOfNamed(args);
  const profile = withHead(before, host);
  if (text.includes('/')) {
    const hint = 'Name the run by its id: the folder may lie elsewhere there';
    throw new UserError('usage', `a folder of the old head says nothing of ${host}`, hint);
  }
  const machine = context.unsavedProfile(profile);
  const runs = await context.withProgress(({ onProgress }) => {
    onProgress(`looking for runs on ${host}`);
    return runsUnder(machine, profile);
  });
  const entry = matchRun(text, runs, await context.runsKnown(profile.name));
  if ('time' in entry) {
    const time = new Date(entry.time * 1000).toISOString().slice(0, 19).replace('T', ' ');
    context.output.note(`${host} has a copy of ${entry.id} as of ${time} UTC`);
  }
  const old = context.beside(before);
  const from = { profile: before, machine: () => Promise.resolve(old) };
  const moved = await context.withProgress(({ onProgress, signal }) => {
    onProgress(`asking ${headName(before)} about ${entry.id}`);
    return moveHead({ entry, profile, machine, before: from, logger: context.logger }, { signal });
  });
  const saved = await context.profiles.change(profile.name, (current) => withHeadNow(current, host));
  const copies = saved.mirror === before.mirror ? '' : `, and ${saved.mirror ?? ''} its mirror`;
  context.output.note(`${host} is the head of profile ${profile.name} from now on${copies}`);
  return moved;
}

/**
 * How the run goes on where its head does not come back, as a sentence; undefined where no other
 * node has a checkpoint of it.
 */
export function otherHeadText({ id, state }: Pick<RunEntry, 'id' | 'state'>): string | undefined {
  const { host, checkpoint, shared } = state?.mirror ?? {};
  if (host === undefined || (shared !== true && typeof checkpoint !== 'string')) return undefined;
  const from = typeof checkpoint === 'string' ? ` from ${checkpoint}` : '';
  return `Where the head is gone for good, ${host} goes on${from}: trainyard resume ${id} --head ${host}`;
}
