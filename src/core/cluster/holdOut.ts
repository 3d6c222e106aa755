// A part of a folder of classes held out for validation: the trainer copies the images into shards
// of two halves, on every node that computes.
import { UserError } from '../base/errors.js';
import { basename, join, nodePath, withHome, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { hasRanks } from '../contracts/slots.js';
import { lookAtData } from './formData.js';
import type { Halves } from './halves.js';
import type { Machine } from './nodes/machine.js';
import { SlurmMachine } from './slurmMachine.js';
import { SshMachine } from './sshMachine.js';

/** Of the images of each class, the part that validates. */
const validationShare = 0.2;

/** Shards of a half at most, and images that a shard is worth. */
const mostShards = 8;
const imagesOfShard = 500;

/** Of one set of images several sets of halves may be made. */
const mostSets = 20;

/** What was made, and the trainer's line about it. */
export interface HeldOut extends Required<Halves> {
  said: string;
}

/** Whether its images can be held out here: a login node of Slurm is not to compute. */
export const canHoldOut = (machine: Machine): boolean => !(machine instanceof SlurmMachine);

/**
 * Makes the halves in a new folder beside `folder`, which stays as it is. `images`: how many it
 * has; undefined where nobody knows. UserError (connection, preflight, failed, usage), Cancelled.
 */
export async function holdOut(
  machine: Machine,
  folder: NodePath,
  images: number | undefined,
  progress: Progress = {},
): Promise<HeldOut> {
  const to = await freeBeside(machine, folder);
  const data = join(to, 'train');
  const evalData = join(to, 'validation');
  progress.onProgress?.(`${100 * validationShare}% of the images into ${to}`);
  if (!(machine instanceof SshMachine)) {
    const output = await machine.runTrainer(holdingOut(folder, to, images), progress);
    return { data, evalData, said: lastLine(output) };
  }
  const ranked = machine.nodes.filter(({ host }) => hasRanks(host));
  let said = '';
  // One after another: nodes may see one disk. By one seed all draw the same images.
  for (const node of ranked.length > 0 ? ranked : machine.nodes) {
    if ((await node.look([evalData]))[0] === 'shards') continue;
    progress.onProgress?.(`on ${node.name}, into ${to}`);
    const home = nodePath((await node.hello(progress)).home);
    const words = holdingOut(withHome(home, folder), withHome(home, to), images);
    said = lastLine(await machine.runTrainerOn(node, words, progress));
  }
  return { data, evalData, said };
}

/** The trainer's words. `images`: how many there are; a half has no more shards than images. */
export function holdingOut(from: string, to: string, images: number | undefined): string[] {
  const fitting = Math.max(1, Math.floor((images ?? Infinity) / imagesOfShard));
  const shards = Math.min(mostShards, fitting);
  const how = ['--shards', String(shards), '--validation', String(validationShare)];
  return ['prep', '--from', from, '--to', to, ...how];
}

/** A path beside `folder` where no node has anything. */
async function freeBeside(machine: Machine, folder: NodePath): Promise<NodePath> {
  const names = Array.from({ length: mostSets }, (_, at) => `-shards${at === 0 ? '' : `-${at + 1}`}`);
  const paths = names.map((end) => nodePath(`${folder.replace(/\/+$/, '')}${end}`));
  const looks = await lookAtData(
    machine,
    paths.map((path) => ({ name: 'data', path })),
  );
  const free = looks.find(({ found }) => found.every(({ what }) => what === 'missing'));
  if (free) return free.path;
  throw new UserError('usage', `${basename(folder)} was held out ${mostSets} times`, 'Remove older shards');
}

const lastLine = (output: string): string =>
  output
    .trim()
    .split(/[\r\n]+/)
    .at(-1) ?? '';
