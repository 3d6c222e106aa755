// This machine as a place to run on: its agent, its runtime, its runs.
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, hostname } from 'node:os';
import { plural } from '../base/plural.js';
import type { Progress } from '../base/progress.js';
import { userHere } from '../base/userHere.js';
import type { Duplex } from 'node:stream';
import { errorText, throwIfCancelled, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import {
  deviceBefore,
  earlierRun,
  startOptions,
  trainerError,
  mostListed,
  type CheckOptions,
  type FolderListing,
  type Machine,
  type NamedNode,
  type StartedRun,
} from './nodes/machine.js';
import { assertPassed, good, type CheckResult } from '../base/checks.js';
import { judgeMatmul, matmulTrial, type Tried } from './check/deepCheck.js';
import { gpuRow, measureGpus } from './check/deepGpus.js';
import { LocalCuda } from './gpus/localCuda.js';
import { placeAndTake, type StartPlaces, type TakenRun } from './gpus/gpuStart.js';
import { nameWhileRemoved } from './nodes/nodeProgram.js';
import { gpuChecks, offerOf } from './nodes/offers.js';
import { findRunFiles, type RunFiles } from './nodes/runFiles.js';
import { openLocalAgent } from '../agent/localAgent.js';
import { AgentNode } from '../agent/agentNode.js';
import { checkData, checkDisk, checkTrainer } from '../plan/preflight.js';
import { runCommand } from '../base/processes.js';
import type { CudaBuild } from '../setup/cudaBuild.js';
import { localCudaBuild } from '../setup/localCuda.js';
import { cacheFolder, ensureLocalRuntime, hasLocalRuntime, type NodeRuntime } from '../setup/runtime.js';
import type { Bootstrap } from '../setup/bootstrap.js';
import { ownPip } from '../setup/packages.js';
import { openLocalBootstrap } from '../setup/localChannel.js';
import { readBootstrap } from '../setup/payload.js';
import type { RelayNode } from '../setup/relay.js';
import { assertProgramHere } from '../code/program.js';
import { assertRequirements, startWithCode } from './nodes/startCode.js';
import { stageFolder, stageForRun, type StageOptions, type StagePlaces } from './nodes/stageNodes.js';
import type { StageSpec } from '../stage/spec.js';
import type { Staged } from '../stage/staging.js';
import { findNativeSources } from '../setup/sources.js';
import type { Profile } from '../contracts/profileSchema.js';
import { workdirOf } from '../profiles/workdir.js';
import { RunRegistry } from '../agent/runRegistry.js';
import type { StopMode } from '../contracts/runSchema.js';
import { assertTrainFlags, trainHelp } from '../plan/request/flagCheck.js';
import { whyNotHere } from '../plan/whyNotHere.js';
import { placeRun, type DeviceLooks } from '../plan/device.js';
import { slotsOn, type NodeOffer } from '../plan/placement.js';
import { ofOurTrainer, type RunRequest } from '../plan/request/request.js';
import { planRun } from '../plan/spec.js';
import { offeredFlags, type TrainerFlag } from '../plan/request/trainerHelp.js';
import { pathOfThisNode, withHome, type NodePath } from '../base/nodePath.js';

/**
 * Where this machine's programs are, and what its agent runs with. `env` is that of this process
 * where it is left out.
 */
export interface LocalMachineOptions {
  /** Folder of the running bundle: `bin/` and `share/` stand beside it. */
  bundleDir: string;
  env?: NodeJS.ProcessEnv;
  logger?: Logger;
}

/** This machine. Owns the connection to its agent. */
export class LocalMachine implements Machine {
  readonly node: AgentNode;
  readonly nodes: readonly NamedNode[];
  private readonly env: NodeJS.ProcessEnv;
  private readonly logger: Logger;

  constructor(private readonly options: LocalMachineOptions) {
    this.env = options.env ?? process.env;
    this.logger = options.logger ?? nullLogger;
    const known: { cudaBuild: CudaBuild | undefined } = { cudaBuild: undefined };
    const node = new AgentNode({
      open: async () => {
        const sources = await this.sources();
        known.cudaBuild = await localCudaBuild(sources);
        return openLocalAgent(sources.agent);
      },
      logger: this.logger,
    });
    this.node = node;
    const name = hostname();
    this.nodes = [
      {
        name,
        node,
        get cudaBuild() {
          return known.cudaBuild;
        },
      },
    ];
  }

  get relayNodes(): readonly RelayNode[] {
    return [this.asNode()];
  }

  /** The runtime, made when it is not there. UserError (preflight), Cancelled. */
  async runtime(progress: Progress = {}): Promise<NodeRuntime> {
    return ensureLocalRuntime(await this.sources(), cacheFolder(this.env), {
      logger: this.logger,
      ...progress,
    });
  }

  async workdir(profile: Profile): Promise<NodePath> {
    return workdirOf(profile, (await this.node.hello()).home);
  }

  async registry(profile: Profile): Promise<RunRegistry> {
    return new RunRegistry(() => this.node.client(), await this.workdir(profile));
  }

  /** Everything a run on `profile` needs; all results, good and bad. */
  async check(
    profile: Profile,
    progress: Progress = {},
    { deep = false }: CheckOptions = {},
  ): Promise<CheckResult[]> {
    const runtime = await this.runtime(progress);
    const hello = await this.node.hello();
    const offer = await this.offer(profile);
    const { slots } = slotsOn(offer, 'cpu');
    const named = profile.hosts?.[0]?.slots !== undefined;
    const reason = named
      ? `profile ${profile.name} gives it ${plural(slots, 'slot')}`
      : `${plural(slots, 'core')} on this machine`;
    return [
      { name: 'runtime', ok: true, detail: runtime.runtimeDir, hint: '' },
      {
        name: 'agent',
        ok: true,
        detail: `version ${hello.version}, ${hello.host}, glibc ${hello.glibc}`,
        hint: '',
      },
      await checkTrainer(runtime.trainer),
      await checkDisk(await this.node.client(), await this.workdir(profile), profile.name),
      { name: 'slots', ok: true, detail: `${slots}: ${reason}`, hint: '' },
      ...(await (await this.cuda()).check(profile.env)),
      ...gpuChecks(offer),
      ...(deep ? await this.measure(profile, offer, progress) : []),
    ];
  }

  /**
   * Checks, then starts. Resolves once the run's supervisor holds the run. UserError, AgentError,
   * Cancelled.
   */
  async start(request: RunRequest, progress: Progress = {}): Promise<StartedRun> {
    await assertRequirements(request, progress);
    if (request.kind === 'command' && request.cwd !== undefined && !request.code) {
      assertProgramHere(request.argv, request.cwd);
    }
    let tried: NodeRuntime | undefined;
    const looks: DeviceLooks = {
      before: () => deviceBefore(this.node, request),
      backEnd: async ({ nodes }) => {
        const on = { env: request.profile.env, gpus: nodes[0]?.gpus ?? [] };
        const found = await (await this.cuda()).tryOn(on, await this.runtime(progress), progress);
        tried = found.runtime;
        return found.trouble;
      },
    };
    const places: StartPlaces = {
      offers: async () => [await this.offer(request.profile)],
      place: (wanted, offers) => placeRun(wanted, offers, looks),
      nodeOf: () => this.node,
    };
    const taken = await placeAndTake(request, places, progress);
    try {
      return await this.startPlaced(request, taken, tried, progress);
    } finally {
      await taken.locks.giveBack();
    }
  }

  /**
   * The same where nothing must be fetched for it; undefined where this machine has no trainer that
   * runs. It is the build that nodes are given. UserError (failed), Cancelled.
   */
  async runTrainerIfThere(args: readonly string[]): Promise<string | undefined> {
    if (whyNotHere() !== undefined) return undefined;
    const sources = await this.sources().catch((error: unknown) => {
      if (error instanceof UserError && error.code === 'preflight') return undefined;
      throw error;
    });
    if (!sources || !(await hasLocalRuntime(sources, cacheFolder(this.env)))) return undefined;
    return this.runTrainer(args);
  }

  /** Runs the trainer here to its end. UserError (failed) with its own words, Cancelled. */
  async runTrainer(args: readonly string[], progress: Progress = {}): Promise<string> {
    const { trainer } = await this.runtime(progress);
    const { signal } = progress;
    const { code, output } = await runCommand(trainer, args, signal ? { signal } : {});
    if (code === 0) return output;
    throw trainerError(args, output);
  }

  /** The flags of one of the trainer's verbs. */
  async trainerFlags(verb: string): Promise<TrainerFlag[]> {
    return offeredFlags(verb, await this.runTrainer([verb, '--help']));
  }

  async list(path: NodePath): Promise<FolderListing> {
    const folder = withHome(pathOfThisNode(homedir()), path);
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      return { folders: folders.sort().slice(0, mostListed), others: entries.length - folders.length };
    } catch (error) {
      throw new UserError('preflight', errorText(error), 'Name a folder that can be read', { cause: error });
    }
  }

  stage(
    profile: Profile,
    spec: StageSpec,
    options: StageOptions = {},
    progress: Progress = {},
  ): Promise<Staged> {
    return stageFolder(this.places(profile, options.hosts), spec, options, progress);
  }

  async runFiles(dir: NodePath, path: string, progress: Progress = {}): Promise<RunFiles> {
    const bootstrap = await this.asNode().bootstrap(progress.signal);
    try {
      return await findRunFiles(bootstrap, dir, path, progress);
    } finally {
      bootstrap.dispose();
    }
  }

  async removeFolder(path: NodePath): Promise<void> {
    const away = nameWhileRemoved(path);
    try {
      await rename(path, away);
      await rm(away, { recursive: true });
    } catch (error) {
      const what = `${path} cannot be removed: ${errorText(error)}`;
      throw new UserError('failed', what, 'Look at its permissions', { cause: error });
    }
  }

  async stop(dir: NodePath, mode: StopMode): Promise<void> {
    await (await this.node.client()).request('run.stop', { dir, mode, by: userHere() });
  }

  async connectSocket(path: NodePath): Promise<Duplex> {
    const socket = connect(path);
    await once(socket, 'connect');
    return socket;
  }

  async connectPort(_dir: NodePath, _host: string, port: number): Promise<Duplex> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  }

  dispose(): void {
    this.node.dispose();
  }

  private async startPlaced(
    request: RunRequest,
    { placed, locks, queued }: TakenRun,
    tried: NodeRuntime | undefined,
    progress: Progress,
  ): Promise<StartedRun> {
    const { placement, device, choice } = placed;
    const wantsGpu = device === 'cuda' && ofOurTrainer(request);
    const { env } = request.profile;
    const runtime = wantsGpu
      ? (tried ?? (await this.runtimeOnGpus(env, progress)))
      : await this.runtime(progress);
    const spec = planRun(request, { placement, choice, runtime, queued });
    const client = await this.node.client();
    const workdir = await this.workdir(request.profile);
    await stageForRun(this.places(request.profile), request.stage, progress);
    progress.onProgress?.('checking');
    const checks: Promise<CheckResult | CheckResult[]>[] = [
      checkDisk(client, workdir, request.profile.name),
      checkData(request.data),
    ];
    if (request.kind === 'train') checks.push(checkTrainer(runtime.trainer));
    assertPassed((await Promise.all(checks)).flat());
    await assertTrainFlags(request, () => this.runTrainer(trainHelp, progress));
    progress.onProgress?.('starting');
    throwIfCancelled(progress.signal);
    const before = spec.dir === undefined ? undefined : await earlierRun(client, spec.dir);
    const { logger } = this;
    const held = locks.of(placement.nodes[0]?.host ?? '');
    const started = await startWithCode(
      {
        request,
        spec,
        before,
        nodes: [this.asNode()],
        workdir,
        withPackages: (task) => task(ownPip),
        logger,
      },
      (spec) => client.request('run.start', { workdir, spec, ...held }, startOptions),
      progress,
    );
    return { ...started, before, device: choice?.used };
  }

  private async measure(
    profile: Profile,
    { cores, gpus }: NodeOffer,
    progress: Progress,
  ): Promise<CheckResult[]> {
    progress.onProgress?.('measuring the CPU');
    const runtime = await this.runtime(progress);
    const name = hostname();
    const run = ([program = '', ...args]: readonly string[]): Promise<Tried> =>
      runCommand(program, args, { env: this.env, timeout: 120_000 });
    const cpu = judgeMatmul(await run([runtime.trainer, ...matmulTrial(cores)]), cores, name);
    if (gpus.length === 0) return [cpu];
    const { env = {} } = profile;
    const on = { env, gpus: gpus.map(({ index }) => index) };
    const tried = await (await this.cuda()).tryOn(on, runtime, progress);
    if (tried.trouble !== undefined) return [cpu, good(gpuRow, `not measured: ${tried.trouble}`)];
    progress.onProgress?.('measuring the GPUs');
    return [cpu, ...(await measureGpus([{ name, runtime: tried.runtime, gpus, run }], env))];
  }

  private places(profile: Profile, hosts?: readonly string[]): StagePlaces<RelayNode> {
    const node = this.asNode();
    const nodeOf = (host = node.name): RelayNode => {
      if (host === node.name) return node;
      throw new UserError('usage', `${host} is not this machine`, `It is called ${node.name}`);
    };
    const nodes = hosts?.map(nodeOf) ?? [node];
    return { profile, logger: this.logger, nodeOf, nodes, sources: () => this.sources() };
  }

  /** This machine as a place for code and data. */
  private asNode(): RelayNode {
    const bootstrap = async (signal?: AbortSignal): Promise<Bootstrap> =>
      openLocalBootstrap(await readBootstrap(await this.sources()), signal);
    return { name: hostname(), address: '127.0.0.1', bootstrap };
  }

  private async runtimeOnGpus(env: Profile['env'], progress: Progress): Promise<NodeRuntime> {
    return (await this.cuda()).provide(env, await this.runtime(progress), progress);
  }

  private async cuda(): Promise<LocalCuda> {
    const sources = await this.sources();
    return new LocalCuda({ sources, cache: cacheFolder(this.env), env: this.env, logger: this.logger });
  }

  private async offer({ hosts }: Profile): Promise<NodeOffer> {
    const host = { ...hosts?.[0], host: hostname() };
    return { ...(await offerOf(this.node, host, host.host)), isHere: true };
  }

  private sources(): ReturnType<typeof findNativeSources> {
    return findNativeSources(this.options.bundleDir, this.env);
  }
}
