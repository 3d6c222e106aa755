// The data that a form names: whether it is on the nodes, while the form is being filled in.
import { errorText, UserError } from '../base/errors.js';
import type { Profile } from '../contracts/profileSchema.js';
import { hasRanks } from '../contracts/slots.js';
import { lookHere } from '../plan/preflight.js';
import { requestOf, type NamedData } from '../plan/request/request.js';
import type { RunFormValues } from '../plan/form/runFormValues.js';
import { parseStage } from '../stage/spec.js';
import { join, type NodePath } from '../base/nodePath.js';
import { plural } from '../base/plural.js';
import type { Machine } from './nodes/machine.js';
import { dataBefore } from './slurmStage.js';
import { SshMachine } from './sshMachine.js';

/** One path of a form, as the nodes that compute see it. */
export interface DataLook extends NamedData {
  /** By node: `folder`, `file`, `shards`, `missing`, or why it cannot be told. */
  found: readonly { host: string; what: string }[];
}

/**
 * What a start would look for: the paths of training and validation images. What is staged before,
 * and what is no path, is left out. `cwd`: against which this machine's relative paths are read.
 */
export function dataOfForm(values: RunFormValues, profile: Profile, cwd: string): NamedData[] {
  const { what, data, evalData, stage } = values;
  if (what !== 'train') return [];
  const words = ['train', ...given('--data', data), ...given('--eval-data', evalData)];
  const isStaged = stage.trim() !== '' && profile.kind !== 'local';
  try {
    const staged = isStaged ? { stage: parseStage(stage.trim()) } : {};
    return dataBefore(requestOf({ profile, words, cwd, ...staged })).filter(({ name }) => name !== 'stage');
  } catch (error) {
    if (error instanceof UserError) return []; // the form says so at the field
    throw error;
  }
}

const given = (flag: string, text: string): string[] => (text.trim() === '' ? [] : [flag, text.trim()]);

/**
 * Looks at all nodes with ranks at once; of Slurm, at the login node. UserError (connection) where
 * one does not answer. With `partial` that is so only where none does, and `what` of a node that
 * does not answer says why.
 */
export async function lookAtData(
  machine: Machine,
  data: readonly NamedData[],
  { partial = false }: { partial?: boolean } = {},
): Promise<DataLook[]> {
  const paths = data.map(({ path }) => path);
  if (!(machine instanceof SshMachine)) {
    const host = machine.nodes[0]?.name ?? '';
    const kinds = await Promise.all(paths.map(lookHere));
    return data.map((one, at) => ({ ...one, found: [{ host, what: kinds[at] ?? 'missing' }] }));
  }
  const ranked = machine.nodes.filter(({ host }) => hasRanks(host));
  const nodes = ranked.length > 0 ? ranked : machine.nodes;
  const answers = await Promise.allSettled(nodes.map((node) => node.look(paths)));
  const failed = answers.filter((answer) => answer.status === 'rejected');
  if (failed[0] && (!partial || failed.length === nodes.length)) throw failed[0].reason;
  const whatOf = (answer: (typeof answers)[number] | undefined, at: number): string =>
    answer?.status === 'rejected' ? errorText(answer.reason) : (answer?.value[at] ?? 'missing');
  return data.map((one, at) => ({
    ...one,
    found: nodes.map(({ name }, node) => ({ host: name, what: whatOf(answers[node], at) })),
  }));
}

/**
 * `gpu1 has no ~/images`; undefined where a run could start. A run that takes only some of the
 * nodes, by what is asked or by its profile, needs its data on as many; where hosts are named,
 * these count alone.
 */
export function lackOf(
  { found: all }: DataLook,
  typed: string,
  values: Pick<RunFormValues, 'nodes' | 'hosts' | 'ranks' | 'gpus'>,
  { maxNodes, train }: Pick<Profile, 'maxNodes' | 'train'> = {},
): string | undefined {
  const names = values.hosts.split(',').map((name) => name.trim());
  const named = all.filter(({ host }) => names.includes(host));
  const found = named.length > 0 ? named : all;
  const there = found.filter(({ what }) => ['folder', 'file', 'shards'].includes(what));
  const first = found.find((one) => !there.includes(one));
  if (!first) return undefined;
  const asksForSome = [values.nodes, values.ranks, values.gpus].some((text) => text.trim() !== '');
  const takesSome = asksForSome || (maxNodes ?? Infinity) < found.length || train?.ranks !== undefined;
  const wanted = Number(values.nodes.trim()) || 1;
  if (takesSome && there.length >= wanted) return undefined;
  if (first.what !== 'missing') return `${typed} cannot be read on ${first.host}: ${first.what}`;
  return `${first.host} has no ${typed}`;
}

/** Classes into which a look goes for the number of files. */
const mostCounted = 200;
/** Classes that are looked into at once. */
const atOnce = 8;

/** What a folder of images holds; hidden folders are no classes. */
export interface DataContent {
  classes: number;
  /** Undefined where there are too many classes to count in. */
  images: number | undefined;
}

/** Undefined of a folder without folders, as one of shards. UserError (connection, preflight). */
export async function contentOf(
  machine: Pick<Machine, 'list'>,
  folder: NodePath,
): Promise<DataContent | undefined> {
  const classes = (await machine.list(folder)).folders.filter((name) => !name.startsWith('.'));
  if (classes.length === 0) return undefined;
  if (classes.length > mostCounted) return { classes: classes.length, images: undefined };
  let images = 0;
  for (let at = 0; at < classes.length; at += atOnce) {
    const some = classes.slice(at, at + atOnce);
    const listed = await Promise.all(some.map((name) => machine.list(join(folder, name))));
    for (const { others } of listed) images += others;
  }
  return { classes: classes.length, images };
}

/**
 * `3 classes, 300 images`, and how many of them an epoch leaves out. `batch`: images of a step on
 * all ranks; undefined while nobody knows it.
 */
export function contentText({ classes, images }: DataContent, batch: number | undefined): string {
  const found = `${classes} ${classes === 1 ? 'class' : 'classes'}`;
  if (images === undefined) return `${found}.`;
  const all = `${found}, ${plural(images, 'image')}.`;
  if (batch === undefined) return all;
  const rest = images % batch;
  if (images < batch) return `${all} That is less than one step, which takes ${batch}.`;
  return rest === 0 ? all : `${all} Each epoch leaves out ${rest} of them: a step takes ${batch}.`;
}
