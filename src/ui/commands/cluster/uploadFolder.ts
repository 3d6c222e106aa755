// A folder of this machine, put on all nodes of a profile so that a run can train on it.
import { basename, resolve } from 'node:path';
import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { join, type NodePath } from '../../../core/base/nodePath.js';
import { namesThere, putInto } from '../../../core/cluster/nodes/putInto.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { askFolder, mayReplace } from './copyToNode.js';

/**
 * Asks in which folder of the nodes it shall lie, and copies it. Resolves with its path there, or
 * undefined where that was given up. UserError, Cancelled.
 */
export async function uploadFolder(ui: Ui, profile: string, folder: string): Promise<NodePath | undefined> {
  const session = await (await ui.services.backend()).session(profile);
  const hint = 'A run of this machine reads the folder where it is';
  const { nodes } = demandCluster(await session.machine(), session.profile, hint);
  const where = nodes.length === 1 ? (nodes[0]?.name ?? '') : `${nodes.length} nodes`;
  const into = await askFolder(`Upload to ${where}`, [folder], where);
  if (into === undefined) return undefined;
  const there = await namesThere(nodes, [folder], into);
  if (there.length > 0 && !(await mayReplace(there, into, where))) return undefined;
  const context = { profile: session.profile, logger: ui.services.logger };
  const name = basename(resolve(folder));
  await withProgress(`Copying ${name} to ${where}`, (progress) =>
    putInto(context, nodes, [folder], into, progress),
  );
  return join(into, name);
}
