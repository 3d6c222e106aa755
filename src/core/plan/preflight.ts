// What is checked before a run starts, each with what to do about it.
import { freeText } from '../base/sizeText.js';
import { readdir, stat } from 'node:fs/promises';
import { errorText, systemCode } from '../base/errors.js';
import type { NamedData } from './request/request.js';
import { agentErrors, type AgentResult } from '../contracts/agentApi.js';
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import { bad, good, type CheckResult } from '../base/checks.js';
import { installLibgomp } from '../base/nodeCommands.js';
import { runCommand } from '../base/processes.js';
import { basename, dirname, type NodePath } from '../base/nodePath.js';

/** Below this a run would not get as far as its first checkpoint. */
const neededFreeBytes = 200_000_000;

/** What the trainer is asked in order to see that it runs. */
export const trainerTrial = ['devices', '--json'];

/** From how that ended: an exit code, or what else ended it. */
export function judgeTrainer(
  trainer: NodePath,
  { ending, output }: { ending: number | string | null; output: string },
): CheckResult {
  if (ending === 0) return good('trainer', `${trainer} runs`);
  if (output.includes('libgomp.so.1')) {
    return bad('trainer', 'libgomp.so.1 is not installed', installLibgomp);
  }
  const said = output.trim().split('\n').at(-1) ?? '';
  const how = typeof ending === 'number' ? `exit ${ending}` : (ending ?? 'exit ?');
  return bad('trainer', `${trainer} does not run (${how}): ${said}`, { kind: 'reportProgram' });
}

/** The trainer starts, and its libraries are there. */
export async function checkTrainer(trainer: NodePath): Promise<CheckResult> {
  try {
    const { code, signal, output } = await runCommand(trainer, trainerTrial, { timeout: 20_000 });
    return judgeTrainer(trainer, { ending: signal ?? code, output });
  } catch (error) {
    return bad('trainer', `${trainer} cannot be started: ${errorText(error)}`, 'This needs x86-64 Linux');
  }
}

/** Room for a run under `workdir`, which need not exist yet. */
export async function checkDisk(
  client: AgentClient,
  workdir: NodePath,
  profile?: string,
): Promise<CheckResult> {
  const { free, inodesFree } = await freeSpace(client, workdir);
  const detail = freeText(free, workdir, neededFreeBytes);
  if (free < neededFreeBytes) {
    const place = profile === undefined ? {} : { profile };
    return bad('disk', detail, { kind: 'moreSpace', ...place });
  }
  if (inodesFree < 1000) return bad('disk', `${inodesFree} inodes free in ${workdir}`, 'Remove files there');
  return good('disk', detail);
}

async function freeSpace(client: AgentClient, path: NodePath): Promise<AgentResult<'disk.free'>> {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      return await client.request('disk.free', { path: folder });
    } catch (error) {
      const missing =
        error instanceof AgentError && (error.code === agentErrors.notFound || error.code === agentErrors.io);
      if (!missing || folder === dirname(folder)) throw error;
    }
  }
}

/**
 * Folders that the request names are there. Only for a node whose files are this machine's.
 */
export async function checkData(named: readonly NamedData[]): Promise<CheckResult[]> {
  return checkRemoteData(named, (paths) => Promise.all(paths.map(lookHere)));
}

/**
 * The same on another node: `look` says `folder`, `file`, `shards`, `missing`, or why it cannot be
 * told. `profile`: whose nodes these are.
 */
export async function checkRemoteData(
  named: readonly NamedData[],
  look: (paths: NodePath[]) => Promise<readonly string[]>,
  profile?: string,
): Promise<CheckResult[]> {
  if (named.length === 0) return [];
  const found = await look(named.map(({ path }) => path));
  return named.map(({ name, path }, index) => {
    const what = found[index] ?? 'missing';
    if (what === 'folder') return good(name, `${path} is there`);
    if (what === 'shards' || (what === 'file' && shardName.test(path))) {
      return good(name, `the TFRecord shards ${path} are there`);
    }
    if (what === 'file') {
      const hint = 'Name a folder that holds one folder for each class, or TFRecord shards';
      return bad(name, `${path} is not a folder`, hint);
    }
    const why = what === 'missing' ? 'does not exist' : `cannot be read: ${what}`;
    const place = profile === undefined ? {} : { profile };
    return bad(name, `${path} ${why}`, { kind: 'correctData', flag: name, ...place });
  });
}

/** How TFRecord shards are named; FOLDER/validation means those of FOLDER that are named so. */
const shardName = /(-of-\d+|\.tfrec(ords?)?)$/;

/** What stands at a path of this machine: see `checkRemoteData`. */
export async function lookHere(path: NodePath): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') return errorText(error);
    const beside = await readdir(dirname(path)).catch(() => []);
    return beside.some((name) => name.includes(basename(path)) && shardName.test(name))
      ? 'shards'
      : 'missing';
  }
}
