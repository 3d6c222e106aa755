// Downloads a checkpoint. It goes on after a lost connection, and gets its name once it is whole.
import { stat } from 'node:fs/promises';
import { join as joinHere } from 'node:path';
import type { AgentNode } from '../agent/agentNode.js';
import { readRemote } from '../agent/remoteFile.js';
import { systemCode, UserError } from '../base/errors.js';
import { makeFolder } from '../base/makeFolder.js';
import { basename, join, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { shortName } from '../model/runName.js';
import { bringFiles } from './bring.js';
import { manifestName, PartialFolder, readManifest, textOf } from './partial.js';

/** A manifest is a few hundred bytes. */
const mostManifest = 1 << 20;

/** What a download brought. */
export interface Download {
  /** What is on this machine now: the checkpoint's folder, say. */
  path: string;
  /** Of all its files. */
  bytes: number;
  /** Of these, what an earlier download had brought; all of them where everything was there. */
  kept: number;
}

/** `resnet20-1f2e-step-00000040`: checkpoints of two runs go into one folder under such names. */
export const folderName = (run: string, checkpoint: NodePath): string =>
  `${shortName(run).replace(/[^\w.-]+/g, '-')}-${basename(checkpoint)}`;

/**
 * Brings the checkpoint in `from`, a folder of the node, into `folder` of this machine, under the
 * name that it has there or `name`. What a download that was ended has brought stays beside it, in
 * a folder whose name ends in `.partial`, and is gone on with. Every file's SHA-256 is compared
 * with the manifest before the folder gets its name. UserError (usage, preflight, connection,
 * failed), Cancelled.
 */
export async function downloadCheckpoint(
  node: Pick<AgentNode, 'client'>,
  from: NodePath,
  folder: string,
  { name = basename(from), ...progress }: Progress & { name?: string } = {},
): Promise<Download> {
  const final = joinHere(folder, name);
  const text = (await wholeFile(node, join(from, manifestName))).toString('utf8');
  const manifest = readManifest(text, join(from, manifestName));
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (await isThere(final, text)) return { path: final, bytes, kept: bytes };
  await makeFolder(folder);
  const partial = await PartialFolder.open(final, text);
  const wanted = { node, from, files: manifest.files, name, changed };
  const kept = await bringFiles(wanted, partial, folder, progress);
  await partial.finish();
  return { path: final, bytes, kept };
}

function changed(path: NodePath, how: 'gone' | 'shorter', cause?: unknown): UserError {
  const what =
    how === 'gone'
      ? `${path} is gone: the run keeps its newest checkpoints only`
      : `${path} is shorter than the checkpoint's manifest says`;
  return new UserError('failed', what, 'Choose another checkpoint', { cause });
}

async function wholeFile(node: Pick<AgentNode, 'client'>, path: NodePath): Promise<Buffer> {
  const bytes = await readRemote(await node.client(), path, 0, mostManifest);
  if (bytes.length > 0) return bytes;
  throw new UserError('failed', `${path} is missing or empty`, 'Choose another checkpoint');
}

/** Whether the very same checkpoint has the name. UserError (usage) where something else has. */
async function isThere(final: string, manifest: string): Promise<boolean> {
  try {
    await stat(final);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
  if ((await textOf(joinHere(final, manifestName)).catch(() => undefined)) === manifest) return true;
  throw new UserError(
    'usage',
    `${final} is there already, and is not this checkpoint`,
    'Choose another folder, or move it away',
  );
}
