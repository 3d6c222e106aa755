// What is checked before a run starts, each with what to do about it.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText, systemCode, UserError } from '../errors.js';
import { flagValue } from '../runs/flags.js';
import { agentErrors, type AgentResult } from './agentApi.js';
import { AgentError, type AgentClient } from './agentClient.js';
import { runCommand } from './processes.js';

export interface CheckResult {
  name: string;
  ok: boolean;
  detail: string;
  hint: string;
}

const good = (name: string, detail: string): CheckResult => ({ name, ok: true, detail, hint: '' });
const bad = (name: string, detail: string, hint: string): CheckResult => ({ name, ok: false, detail, hint });

/** Below this a run would not get as far as its first checkpoint. */
const neededFreeBytes = 200_000_000;

/** The trainer starts, and its libraries are there. */
export async function checkTrainer(trainer: string): Promise<CheckResult> {
  try {
    const { code, signal, output } = await runCommand(trainer, ['devices', '--json'], { timeout: 20_000 });
    if (code === 0) return good('trainer', `${trainer} runs`);
    if (output.includes('libgomp.so.1')) {
      return bad(
        'trainer',
        'libgomp.so.1 is not installed',
        'Install it with: sudo apt-get install libgomp1',
      );
    }
    const said = output.trim().split('\n').at(-1) ?? '';
    const ending = signal ?? `exit ${code ?? '?'}`;
    return bad('trainer', `${trainer} does not run (${ending}): ${said}`, 'Report this, or build it again');
  } catch (error) {
    return bad('trainer', `${trainer} cannot be started: ${errorText(error)}`, 'This needs x86-64 Linux');
  }
}

/** Room for a run under `workdir`, which need not exist yet. */
export async function checkDisk(client: AgentClient, workdir: string): Promise<CheckResult> {
  const { free, inodesFree } = await freeSpace(client, workdir);
  const detail = `${(free / 1e9).toFixed(1)} GB free in ${workdir}`;
  if (free < neededFreeBytes) return bad('disk', detail, 'Free some space, or set "workdir" in the profile');
  if (inodesFree < 1000) return bad('disk', `${inodesFree} inodes free in ${workdir}`, 'Remove files there');
  return good('disk', detail);
}

async function freeSpace(client: AgentClient, path: string): Promise<AgentResult<'disk.free'>> {
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

/** Folders that the trainer's flags name are there. Only for a node whose files are this machine's. */
export async function checkData(argv: readonly string[]): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const flag of ['--data', '--eval-data']) {
    const value = flagValue(argv, flag);
    if (!value?.startsWith('/')) continue;
    const name = flag.slice(2);
    try {
      const info = await stat(value);
      results.push(
        info.isDirectory()
          ? good(name, `${value} is there`)
          : bad(name, `${value} is not a folder`, 'Name a folder that holds one folder for each class'),
      );
    } catch (error) {
      const what = systemCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorText(error)}`;
      results.push(bad(name, `${value} ${what}`, `Correct ${flag}`));
    }
  }
  return results;
}

/** UserError (preflight) with the first check that failed, and how many more did. */
export function assertPassed(results: readonly CheckResult[]): void {
  const failed = results.filter(({ ok }) => !ok);
  const [first] = failed;
  if (!first) return;
  const others = failed.slice(1).map(({ name }) => name);
  const more = others.length > 0 ? ` (also wrong: ${others.join(', ')})` : '';
  throw new UserError('preflight', `${first.name}: ${first.detail}${more}`, first.hint);
}
