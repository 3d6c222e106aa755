// What a job of Slurm's stages on its own nodes before its run starts (native/agent/slurm).
import { UserError } from '../base/errors.js';
import { portsOf } from '../contracts/ports.js';
import type { NamedData, RunRequest } from '../plan/request/request.js';
import type { Payload } from '../setup/payload.js';
import { readFolderPrograms, type NativeSources } from '../setup/sources.js';
import { isAddress } from '../stage/spec.js';
import { isWithin } from './nodes/stageNodes.js';

/** stage.json of a run: what is staged, and the programs that do it. */
interface StageOrder {
  /** The set-up program's text. */
  program: string;
  from: string;
  to: string;
  /** First and last port at which nodes give to one another. */
  ports: readonly [number, number];
  /** Of an address: name and text of what downloads it. */
  programs?: [string, string][];
}

/**
 * UserError (usage) for a folder of another host than the login node: compute nodes see its shared
 * disk alone, and that of one another not at all.
 */
export function assertStageable({ stage }: RunRequest, login: string): void {
  if (stage?.host === undefined || stage.host === login) return;
  const what = `${stage.from} of ${stage.host} cannot be staged: the nodes of a Slurm run read the shared disk`;
  throw new UserError('usage', what, 'Name a folder there, or an address');
}

/** For the job; undefined where nothing is staged. Rejects with the error of the file system. */
export async function stageOrder(
  { stage, profile }: RunRequest,
  payload: Pick<Payload, 'bootstrap'>,
  sources: () => Promise<NativeSources>,
): Promise<StageOrder | undefined> {
  if (!stage) return undefined;
  const { from, to } = stage;
  const order = { program: payload.bootstrap, from, to, ports: portsOf(profile) };
  return isAddress(from) ? { ...order, programs: await readFolderPrograms(await sources()) } : order;
}

/**
 * What is looked for on the login node: data that is staged only comes to be, its source is there.
 */
export function dataBefore({ stage, data }: RunRequest): readonly NamedData[] {
  if (!stage) return data;
  const { from, to } = stage;
  const others = data.filter(({ path }) => !isWithin(path, to));
  return isAddress(from) ? others : [{ name: 'stage', path: from }, ...others];
}
