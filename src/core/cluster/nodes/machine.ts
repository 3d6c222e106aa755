// A place to run on, as both user interfaces see it: this machine, or a cluster reached by SSH.
import type { RelayNode } from '../../setup/relay.js';
import type { Duplex } from 'node:stream';
import { UserError } from '../../base/errors.js';
import type { Progress } from '../../base/progress.js';
import type { Disposable } from '../../base/lifecycle.js';
import { agentErrors, type RunDetails, type RunEntry } from '../../contracts/agentApi.js';
import { AgentError, type AgentClient } from '../../agent/agentClient.js';
import type { CheckResult } from '../../base/checks.js';
import type { AgentNode } from '../../agent/agentNode.js';
import type { CudaBuild } from '../../setup/cudaBuild.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import type { Profile } from '../../contracts/profileSchema.js';
import type { RunRegistry } from '../../agent/runRegistry.js';
import type { StopMode } from '../../contracts/runSchema.js';
import { usedDevice } from '../../plan/request/recordedRun.js';
import type { Device, RunRequest } from '../../plan/request/request.js';
import type { TrainerFlag } from '../../plan/request/trainerHelp.js';
import type { StageSpec } from '../../stage/spec.js';
import type { Staged } from '../../stage/staging.js';
import type { SshShell, TerminalSize } from '../../ssh/base/transport.js';
import type { NodePath } from '../../base/nodePath.js';
import type { RunFiles } from './runFiles.js';
import type { StageOptions } from './stageNodes.js';

/** A run that has started, and its folder on the machine. */
export interface StartedRun {
  id: string;
  dir: NodePath;
  /** What an earlier run had left in the folder that the user named. */
  before: RunDetails | undefined;
  /** What may go wrong later, for people. */
  note?: string | undefined;
  /** What our trainer computes on; undefined where nothing is said of that. */
  device: Device | undefined;
  /** What its nodes may make it suffer from, as a check says it; left out where nobody looked. */
  warnings?: readonly CheckResult[];
}

/** A node by the profile's name of it. */
export interface NamedNode {
  readonly name: string;
  readonly node: AgentNode;
  /** Which build of the CUDA back end it takes, and why. Known once its agent was reached. */
  readonly cudaBuild?: CudaBuild | undefined;
}

/** A node on which TensorBoard of a run is served: its agent starts it, and its socket is there. */
export interface BoardPlace {
  client(): Promise<AgentClient>;
  connectSocket(path: NodePath): Promise<Duplex>;
}

/** How far a check goes. */
export interface CheckOptions {
  /** Links, CPUs, free GPUs and the data are measured too, for some seconds each. */
  deep?: boolean;
  /** A file or folder that every node needs. */
  data?: NodePath;
}

/** What is in a folder of a node. */
export interface FolderListing {
  /** Names, sorted; of very many only some. */
  folders: string[];
  /** How many entries are no folders. */
  others: number;
}

/** Names of a folder that are listed. */
export const mostListed = 1000;

/**
 * Where a profile's runs go. Owns its connections, and the agents behind them; runs go on after
 * `dispose`.
 */
export interface Machine extends Disposable {
  /** On which runs live and are supervised: this machine, or the cluster's head. */
  readonly node: AgentNode;
  /** All of them, the head first. */
  readonly nodes: readonly NamedNode[];
  /** The same as places for code, data and packages. */
  readonly relayNodes: readonly RelayNode[];

  /**
   * Logs in on every node at once; absent where that is this machine. UserError (connection) where
   * the head cannot be reached, Cancelled.
   */
  connectHead?(signal?: AbortSignal): Promise<void>;
  /** The runtime of `node`, made when it is not there. UserError (preflight), Cancelled. */
  runtime(progress?: Progress): Promise<NodeRuntime>;
  workdir(profile: Profile): Promise<NodePath>;
  registry(profile: Profile): Promise<RunRegistry>;
  /** Everything a run on `profile` needs; all results, good and bad. */
  check(profile: Profile, progress?: Progress, options?: CheckOptions): Promise<CheckResult[]>;
  /**
   * Checks, then starts. Resolves once the run's supervisor holds the run. UserError, AgentError,
   * Cancelled.
   */
  start(request: RunRequest, progress?: Progress): Promise<StartedRun>;
  /**
   * What `start` would send to the queue now; nothing is sent. Absent where no queue takes the
   * runs. UserError, Cancelled.
   */
  batchScript?(request: RunRequest, progress?: Progress): Promise<string>;
  /** Runs the trainer on `node` to its end. UserError (failed) with its own words, Cancelled. */
  runTrainer(args: readonly string[], progress?: Progress): Promise<string>;
  /** The flags of one of the trainer's verbs. */
  trainerFlags(verb: string): Promise<TrainerFlag[]>;
  /**
   * What is in a folder of `node`; `~/` is the home folder there. UserError (preflight) when it
   * cannot be read.
   */
  list(path: NodePath): Promise<FolderListing>;
  /**
   * Puts a folder of one node on the own disks of the others, or of `hosts`. UserError (usage,
   * connection, preflight), Cancelled.
   */
  stage(profile: Profile, spec: StageSpec, options?: StageOptions, progress?: Progress): Promise<Staged>;
  /**
   * What `path` names in the run folder `dir` of `node`: one file, or all below a folder. UserError
   * (usage) where there is nothing of that name, (preflight, connection), Cancelled.
   */
  runFiles(dir: NodePath, path: string, progress?: Progress): Promise<RunFiles>;
  /** Removes a folder of `node`, in one step for its readers. UserError (failed). */
  removeFolder(path: NodePath): Promise<void>;
  stop(dir: NodePath, mode: StopMode): Promise<void>;
  /**
   * Lets `host`, which the run under way has lost, join it once more, where nothing of the run
   * lives there any more. Resolves where it joined, or has no need to. Absent where a run has one
   * node. UserError, AgentError, Cancelled.
   */
  joinAgain?(profile: Profile, run: RunEntry, host: string, progress?: Progress): Promise<void>;
  /** A login shell on `node`; absent where that is this machine. */
  shell?(size: TerminalSize): Promise<SshShell>;
  /** A channel to a Unix socket on `node`. */
  connectSocket(path: NodePath): Promise<Duplex>;
  /**
   * A channel to a port of 127.0.0.1 on `host`, a node of the run in `dir`. UserError (connection),
   * (usage) where the run does not have that node now.
   */
  connectPort(dir: NodePath, host: string, port: number): Promise<Duplex>;
  /**
   * Where TensorBoard of the run in `dir` is served; absent where that is always `node`. The
   * machine owns the place until `letGoOfBoard`. UserError (usage) where the run has no such place
   * now.
   */
  boardPlace?(dir: NodePath): Promise<BoardPlace>;
  letGoOfBoard?(dir: NodePath): void;
}

/** For `run.start`: a folder that another host may supervise is watched for half a minute first. */
export const startOptions = { timeout: 120_000 };

/** What is in a folder that a run is to be started in. */
export async function earlierRun(client: AgentClient, dir: NodePath): Promise<RunDetails | undefined> {
  try {
    return await client.request('run.get', { dir });
  } catch (error) {
    if (error instanceof AgentError && error.code === agentErrors.notFound) return undefined;
    throw error;
  }
}

/** What an earlier run in the folder of this one computed on. */
export async function deviceBefore(node: AgentNode, { runDir }: RunRequest): Promise<Device | undefined> {
  const before = runDir === undefined ? undefined : await earlierRun(await node.client(), runDir);
  return before?.run ? usedDevice(before.run) : undefined;
}

/** The trainer's last line, when it failed. */
export function trainerError(args: readonly string[], output: string): UserError {
  const said = output.trim().split('\n').at(-1) ?? '';
  const what = `trainer ${args[0] ?? ''} failed: ${said.replace(/^trainer: error: /, '')}`;
  return new UserError('failed', what, '');
}
