// The images of the demo, drawn where a run will look for them.
import { stat } from 'node:fs/promises';
import { nodePath, pathOfThisNode, withHome, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { Profile } from '../contracts/profileSchema.js';
import { demoFolder, drawing, lastDrawn } from '../plan/demo.js';
import { givenWorkdir } from '../profiles/workdir.js';
import { cacheFolder } from '../setup/runtime.js';
import type { Machine } from './nodes/machine.js';
import { SshMachine } from './sshMachine.js';

/**
 * Draws them unless they are there: into the user's cache on this machine, and below the workdir on
 * each node of a cluster. Returns the folder that holds train/ and validation/, as a command line
 * names it. UserError (preflight, failed, connection), Cancelled.
 */
export async function prepareDemoData(
  machine: Machine,
  profile: Profile,
  progress: Progress = {},
): Promise<NodePath> {
  if (machine instanceof SshMachine) return onEachNode(machine, profile, progress);
  const folder = demoFolder(pathOfThisNode(cacheFolder()));
  const there = await stat(lastDrawn(folder)).catch(() => undefined);
  if (there?.isDirectory() === true) return folder;
  progress.onProgress?.('drawing labelled images');
  await machine.runTrainer(drawing(folder), progress);
  return folder;
}

/** One after another: nodes may see one disk. */
async function onEachNode(machine: SshMachine, profile: Profile, progress: Progress): Promise<NodePath> {
  const folder = demoFolder(givenWorkdir(profile));
  for (const node of machine.nodes) {
    const [found] = await node.look([lastDrawn(folder)]);
    if (found === 'folder') continue;
    progress.onProgress?.(`drawing labelled images on ${node.name}`);
    const { home } = await node.hello(progress);
    await machine.runTrainerOn(node, drawing(withHome(nodePath(home), folder)), progress);
  }
  return folder;
}
