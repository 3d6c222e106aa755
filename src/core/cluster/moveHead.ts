// A run whose head is lost goes on under another one: the node that kept a copy of its folder, or
// any node that shares the folder's disk.
import { Cancelled, errorText, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import { join, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { MirroredRun, RunDetails, RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { hasRanks, isSpare, startsRanks } from '../contracts/slots.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { givenWorkdir } from '../profiles/workdir.js';
import { NeedsOpenSsh, Refused } from '../ssh/base/failures.js';
import { headName } from './nodes/hosts.js';
import type { Machine } from './nodes/machine.js';

/**
 * The profile with another head. Where that was the mirror, the old head is from now on. UserError
 * (usage) where `host` cannot be the head in place of the profile's own.
 */
export function withHead(profile: Profile, host: string): Profile {
  const { name, kind, hosts = [], mirror } = profile;
  if (kind !== 'ssh') {
    const what = `another head was named, and profile ${name} is of kind ${kind}`;
    throw new UserError('usage', what, 'Leave it out: only a profile of kind ssh can have another head');
  }
  const before = headName(profile);
  if (!hosts.some((each) => each.host === host)) {
    const names = hosts.map((each) => each.host).join(', ');
    throw new UserError('usage', `${host} is no host of profile ${name}`, `Its hosts are ${names}`);
  }
  if (host === before) {
    throw new UserError('usage', `${host} is the head of profile ${name} already`, 'Leave it out');
  }
  const old = hosts.find((each) => each.host === before);
  if (old && !hasRanks(old)) {
    const what = `${old.host} has 0 slots, which only the head of profile ${name} may have`;
    throw new UserError(
      'usage',
      what,
      'Give it slots in the profile, or take it out of "hosts", and try again',
    );
  }
  return { ...profile, head: host, ...(mirror === host ? { mirror: before } : {}) };
}

/** The same of a profile that may have been changed since, perhaps to this very head. */
export const withHeadNow = (current: Profile, host: string): Profile =>
  headName(current) === host ? current : withHead(current, host);

/**
 * The runs that can go on under a new head, the newest first: those that it keeps a copy of, and
 * those that it sees on a disk of all nodes. `machine` has that head. UserError (connection),
 * AgentError.
 */
export async function runsUnder(machine: Machine, profile: Profile): Promise<(RunEntry | MirroredRun)[]> {
  const client = await machine.node.client();
  const copies = (await client.request('mirror.list', { workdir: givenWorkdir(profile) })).runs;
  const listed = await (await machine.registry(profile)).list();
  const own = listed.filter(({ id }) => !copies.some((copy) => copy.id === id));
  return [...copies, ...own].sort((one, other) => (one.id < other.id ? 1 : -1));
}

/** A run, where its head is to be, and where it was. */
export interface HeadMove {
  entry: RunEntry;
  /** With the new head. */
  profile: Profile;
  machine: Machine;
  /** The same of the old one. */
  before: { profile: Profile; machine: () => Promise<Machine> };
  logger?: Logger;
}

/** A run that has another head now. */
export interface MovedRun {
  /** As the new head has it. */
  details: RunDetails;
  /** On which it goes on, where the old head does not answer; undefined: on those that it had. */
  hosts: string[] | undefined;
}

/**
 * Makes the new head's copy the run's folder. The old head is asked first: a run that is under way
 * there, has finished, or is newer than the copy, stays there. UserError (usage, connection),
 * AgentError where the new head hears the old one, Cancelled.
 */
export async function moveHead(
  { entry, profile, machine, before, logger }: HeadMove,
  { signal }: Pick<Progress, 'signal'> = {},
): Promise<MovedRun> {
  const oldHead = headName(before.profile);
  const there = await atOldHead(before, entry.id, logger ?? nullLogger, signal);
  const status = there && statusOf(there);
  if (status !== undefined && !isOver(status)) {
    const what = `${entry.id} is ${status} on ${oldHead}, which is its head`;
    throw new UserError('usage', what, { kind: 'stopRun', run: entry.id });
  }
  if (status === 'finished') {
    throw new UserError('usage', `${entry.id} has finished on ${oldHead}`, 'Start a new run');
  }
  if (there) await assertNewest(entry, there, { machine, before });
  const client = await machine.node.client();
  const host = headName(profile);
  const params = { workdir: givenWorkdir(profile), id: entry.id, host };
  const { dir, adopted, shared } = await client.request('mirror.adopt', params);
  const details = await client.request('run.get', { dir });
  const headThere = details.run?.nodes?.[0]?.host;
  if (!adopted && !shared && headThere !== oldHead) {
    const what = `${host} has ${entry.id} as it was when ${headThere ?? 'another host'} was its head, and no copy since`;
    throw new UserError('usage', what, `Bring ${oldHead} back, and go on there`);
  }
  return { details, hosts: there ? undefined : hostsLeft(details, profile, oldHead) };
}

/**
 * UserError (usage) where the old head, which answers, has more of the run than the copy: a later
 * start, or a newer checkpoint.
 */
async function assertNewest(
  entry: RunEntry,
  there: RunEntry,
  { machine, before }: Pick<HeadMove, 'machine' | 'before'>,
): Promise<void> {
  const generation = ({ state }: RunEntry): number => state?.generation ?? 0;
  const isCopy = 'time' in entry;
  const [newest, copied] = await Promise.all([
    newestStep(await before.machine(), there.dir),
    newestStep(machine, isCopy ? join(entry.dir, 'mirror') : entry.dir),
  ]);
  if (generation(there) <= generation(entry) && newest <= copied) return;
  const oldHead = headName(before.profile);
  const from =
    newest > copied ? `step ${newest}, and the copy step ${copied}` : 'a later start than the copy';
  const what = `${oldHead} answers, and has more of ${entry.id}: ${from}`;
  throw new UserError('usage', what, 'Go on there, with its own head');
}

/** Of its valid checkpoints; 0 where there is none. */
async function newestStep({ node }: Machine, dir: NodePath): Promise<number> {
  const { checkpoints } = await (await node.client()).request('checkpoint.list', { dir });
  return Math.max(0, ...checkpoints.filter(({ valid }) => valid).map(({ step }) => step));
}

/**
 * What the old head says of the run; undefined where it does not answer, or knows no such run.
 * UserError (connection) where it answers and does not let us in, Cancelled.
 */
async function atOldHead(
  { profile, machine }: HeadMove['before'],
  id: string,
  logger: Logger,
  signal: AbortSignal | undefined,
): Promise<RunEntry | undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new Error('no answer within 60 s'));
  }, patience);
  const given = new Promise<never>((_, reject) => {
    const stop = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]);
    const refuse = (): void => {
      reject(silence.signal.aborted ? new Error('no answer within 60 s') : new Cancelled());
    };
    if (stop.aborted) refuse();
    stop.addEventListener('abort', refuse);
  });
  try {
    const asking = machine()
      .then((old) => old.registry(profile))
      .then((registry) => registry.list());
    return (await Promise.race([asking, given])).find((run) => run.id === id);
  } catch (error) {
    if (error instanceof Cancelled || error instanceof Refused || error instanceof NeedsOpenSsh) throw error;
    logger.log('info', `the head of ${id} before does not answer: ${errorText(error)}`);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds. */
const patience = 60_000;

/**
 * The run's other nodes with ranks, and a spare in the place of the old head: the new head, where
 * that is one. Else the new head alone.
 */
function hostsLeft({ run }: RunDetails, profile: Profile, oldHead: string): string[] {
  const others = (run?.nodes ?? []).filter(({ host }) => host !== oldHead);
  const had = run?.nodes?.some((node) => node.host === oldHead && startsRanks(node)) === true;
  const head = headName(profile);
  const byHead = others
    .filter(isSpare)
    .sort((one, other) => Number(other.host === head) - Number(one.host === head));
  const spares = byHead.slice(0, had ? 1 : 0);
  const left = [...others.filter(startsRanks), ...spares].map(({ host }) => host);
  const known = left.filter((host) => profile.hosts?.some((each) => each.host === host));
  return known.length > 0 ? known : [head];
}
