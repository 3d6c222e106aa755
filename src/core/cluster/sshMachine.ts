// A cluster of hosts reached by SSH as one place to run on. This only looks and asks.
import type { AmendEntries } from '../agent/agentClient.js';
import type { Progress } from '../base/progress.js';
import { userHere } from '../base/userHere.js';
import type { Duplex } from 'node:stream';
import { throwIfCancelled, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { RunEntry } from '../contracts/agentApi.js';
import {
  deviceBefore,
  earlierRun,
  startOptions,
  type CheckOptions,
  type FolderListing,
  type Machine,
  type StartedRun,
} from './nodes/machine.js';
import { assertPassed, type CheckResult } from '../base/checks.js';
import { readPayload, type Payload } from '../setup/payload.js';
import { cacheFolder, type NodeRuntime } from '../setup/runtime.js';
import { findNativeSources } from '../setup/sources.js';
import type { Profile } from '../contracts/profileSchema.js';
import { hasRanks } from '../contracts/slots.js';
import { withLibraries, type Placement } from '../plan/placement.js';
import { givenWorkdir, workdirOf } from '../profiles/workdir.js';
import { RunRegistry } from '../agent/runRegistry.js';
import type { StopMode } from '../contracts/runSchema.js';
import { cudaTrial, judgeCuda } from '../plan/cudaTrial.js';
import { placeRun, type DeviceLooks } from '../plan/device.js';
import { ofOurTrainer, type RunRequest } from '../plan/request/request.js';
import { planRun } from '../plan/spec.js';
import { offeredFlags, type TrainerFlag } from '../plan/request/trainerHelp.js';
import { assertFlags, checkBeforeStart } from './check/startChecks.js';
import { assertRequirements, startWithCode } from './nodes/startCode.js';
import { ThroughHead } from '../ssh/throughHead.js';
import type { SshShell, SshTransport, TerminalSize } from '../ssh/base/transport.js';
import { checkCluster } from './check/clusterCheck.js';
import { copyToAll } from './nodes/fanOut.js';
import {
  copyFromNode,
  stageFolder,
  stageForRun,
  type StageOptions,
  type StagePlaces,
} from './nodes/stageNodes.js';
import type { NodeSource, StageSpec } from '../stage/spec.js';
import type { Staged } from '../stage/staging.js';
import { placeAndTake, type TakenRun } from './gpus/gpuStart.js';
import { joinAgain } from './joinAgain.js';
import { joinNodes } from './joinNodes.js';
import { removeOnNode, trainerOn } from './nodes/nodeProgram.js';
import { offersOf } from './nodes/offers.js';
import { findRunFiles, type RunFiles } from './nodes/runFiles.js';
import { buildTrouble, noCudaLibrary, withoutCuda } from '../setup/nodeCuda.js';
import { Packages } from '../setup/packages.js';
import type { Questions } from './nodes/retry.js';
import { addressOf, headFirst } from './nodes/hosts.js';
import { HeadWays } from './nodes/headWays.js';
import { loginErrors } from './nodes/logins.js';
import { SshNode, type FindElsewhere } from './nodes/sshNode.js';
import { Survey } from './nodes/survey.js';
import type { NodePath } from '../base/nodePath.js';

/** What a cluster is made of. The machine owns the transport. */
export interface SshMachineOptions {
  profile: Profile;
  transport: SshTransport;
  /** Through which the transport asks. */
  questions: Questions;
  /** Folder of the running bundle: `bin/` and `share/` stand beside it. */
  bundleDir: string;
  env?: NodeJS.ProcessEnv;
  logger?: Logger;
  /** Of a profile of kind slurm, as of SshNodeOptions. */
  entries?: AmendEntries;
  gpusElsewhere?: FindElsewhere | undefined;
}

type Runtimes = ReadonlyMap<SshNode, NodeRuntime>;

/** A cluster. Owns its nodes and the transport. */
export class SshMachine implements Machine {
  readonly nodes: readonly SshNode[];
  private readonly ways: HeadWays;
  protected readonly head: SshNode;
  private payload: Promise<Payload> | undefined;

  constructor(protected readonly options: SshMachineOptions) {
    const { profile, transport, questions, logger = nullLogger, entries, gpusElsewhere } = options;
    const workdir = givenWorkdir(profile);
    const payload = (): Promise<Payload> => this.readPayload();
    const shared = { questions, payload, workdir, logger, entries, gpusElsewhere };
    const [first, ...others] = headFirst(profile);
    if (!first) {
      const hint = { kind: 'addHosts', profile: profile.name } as const;
      throw new UserError('usage', `profile ${profile.name} has no hosts`, hint);
    }
    const head = new SshNode(first, { transport, ...shared });
    const ways = new HeadWays(head, () => new SshNode(first, { transport, ...shared }));
    this.ways = ways;
    this.nodes = [
      head,
      ...others.map((host, index) => {
        const own = profile.launcher === 'ssh';
        const way = own ? new ThroughHead(ways.of(index), addressOf(host)) : transport;
        return new SshNode(host, { transport: way, ...shared });
      }),
    ];
    this.head = head;
  }

  get relayNodes(): readonly SshNode[] {
    return this.nodes;
  }

  get node(): SshNode['node'] {
    return this.head.node;
  }

  runtime(progress: Progress = {}): Promise<NodeRuntime> {
    return this.withPackages((packages) => this.head.prepare(packages, progress));
  }

  async workdir(profile: Profile): Promise<NodePath> {
    return workdirOf(profile, (await this.node.hello()).home);
  }

  async registry(profile: Profile): Promise<RunRegistry> {
    const { home } = await this.node.hello();
    return new RunRegistry(() => this.node.client(), workdirOf(profile, home), home);
  }

  check(profile: Profile, progress: Progress = {}, options: CheckOptions = {}): Promise<CheckResult[]> {
    const withPackages = this.withPackages.bind(this);
    return checkCluster({ profile, nodes: this.nodes, withPackages }, progress, options);
  }

  async start(request: RunRequest, progress: Progress = {}): Promise<StartedRun> {
    await assertRequirements(request, progress);
    progress.onProgress?.('connecting');
    const tried: Runtimes[] = [];
    const looks: DeviceLooks = {
      before: () => deviceBefore(this.node, request),
      backEnd: async (wanted) => {
        const { trouble, runtimes } = await this.tryCuda(wanted, progress);
        if (runtimes) tried.push(runtimes);
        return trouble;
      },
    };
    const found = await placeAndTake(
      request,
      {
        offers: () => offersOf(this.asked(request), progress),
        place: (wanted, offers) => placeRun(wanted, offers, looks),
        nodeOf: (host) => this.select([host])[0]?.node ?? this.node,
      },
      progress,
    );
    try {
      return await this.startPlaced(request, found, tried, progress);
    } finally {
      await found.locks.giveBack();
    }
  }

  runTrainer(args: readonly string[], progress: Progress = {}): Promise<string> {
    return this.runTrainerOn(this.head, args, progress);
  }

  /** The same on another node. */
  async runTrainerOn(node: SshNode, args: readonly string[], progress: Progress = {}): Promise<string> {
    const { trainer } = await this.withPackages((packages) => node.prepare(packages, progress));
    return trainerOn(node, [trainer, ...args], progress);
  }

  async trainerFlags(verb: string): Promise<TrainerFlag[]> {
    const node = this.nodes.find(({ host }) => hasRanks(host)) ?? this.head;
    return offeredFlags(verb, await this.runTrainerOn(node, [verb, '--help']));
  }

  list(path: NodePath): Promise<FolderListing> {
    return this.head.list(path);
  }

  runFiles(dir: NodePath, path: string, progress: Progress = {}): Promise<RunFiles> {
    return this.head.withBootstrap(
      (bootstrap) => findRunFiles(bootstrap, dir, path, progress),
      progress.signal,
    );
  }

  removeFolder(path: NodePath): Promise<void> {
    return removeOnNode(this.head, path);
  }

  async stop(dir: NodePath, mode: StopMode): Promise<void> {
    await (await this.node.client()).request('run.stop', { dir, mode, by: userHere() });
  }

  async joinAgain(profile: Profile, run: RunEntry, host: string, progress: Progress = {}): Promise<void> {
    const node = this.nodes.find(({ name }) => name === host);
    if (!node) return; // the profile has it no more
    const { hashes } = await this.readPayload();
    const withPackages = this.withPackages.bind(this);
    await joinAgain(run, { profile, head: this.head, node, hashes, withPackages }, progress);
  }

  async shell(size: TerminalSize): Promise<SshShell> {
    return (await this.head.connection()).shell(size);
  }

  connectSocket(path: NodePath): Promise<Duplex> {
    return this.head.connectTo({ path });
  }

  async connectPort(_dir: NodePath, host: string, port: number): Promise<Duplex> {
    return (this.select([host])[0] ?? this.head).connectTo({ host: '127.0.0.1', port });
  }

  /**
   * Logs in on every node at once, so that all questions come together. UserError (connection),
   * Cancelled.
   */
  async connectAll(signal?: AbortSignal): Promise<void> {
    for (const error of await loginErrors(this.nodes, signal)) if (error !== undefined) throw error;
  }

  /**
   * The same, where only the head must be reached: what is wrong with the others is said where they
   * are shown.
   */
  async connectHead(signal?: AbortSignal): Promise<void> {
    const [error] = await loginErrors(this.nodes, signal);
    if (error !== undefined) throw error;
  }

  /**
   * The nodes of these names, or all. UserError (usage) for a name that the profile does not have.
   */
  select(names: readonly string[] | undefined): readonly SshNode[] {
    if (names === undefined) return this.nodes;
    return names.map((name) => {
      const node = this.nodes.find((each) => each.name === name);
      if (node) return node;
      const known = this.nodes.map((each) => each.name).join(', ');
      throw new UserError('usage', `${name} is no host of this profile`, `Its hosts are ${known}`);
    });
  }

  /** Puts files of this machine on these nodes: see `copyToAll`. */
  copy(nodes: readonly SshNode[], from: string, to: NodePath, progress: Progress = {}): Promise<number> {
    const { profile, logger = nullLogger } = this.options;
    return copyToAll({ profile, logger }, nodes, from, to, progress);
  }

  stage(
    profile: Profile,
    spec: StageSpec,
    options: StageOptions = {},
    progress: Progress = {},
  ): Promise<Staged> {
    return stageFolder(this.places(profile, this.select(options.hosts)), spec, options, progress);
  }

  /** Puts files of one node on these nodes: see `copyFromNode`. */
  copyFrom(nodes: readonly SshNode[], spec: NodeSource, progress: Progress = {}): Promise<Staged> {
    return copyFromNode(this.places(this.options.profile, nodes), spec, progress);
  }

  dispose(): void {
    for (const node of this.nodes) node.dispose();
    this.ways.dispose();
    this.options.transport.dispose();
  }

  /** What follows once the run has its nodes, its device and its GPUs. */
  private async startPlaced(
    request: RunRequest,
    { placed: { placement, device, choice }, locks, queued }: TakenRun,
    tried: readonly Runtimes[],
    progress: Progress,
  ): Promise<StartedRun> {
    const { profile } = request;
    const taken = this.takenBy(placement);
    const prepared = tried.find(
      (each) => each.size === taken.length && taken.every((node) => each.has(node)),
    );
    const wantsGpu = device === 'cuda' && ofOurTrainer(request);
    const runtimes = prepared ?? (await this.prepare(taken, wantsGpu, progress));
    const runtime = runtimes.get(this.head) ?? (await this.runtime(progress));
    const { home } = await this.node.hello();
    const folders = new Map([...runtimes].map(([node, { nvidia }]) => [node.name, nvidia]));
    const place = { placement: withLibraries(placement, folders), choice, runtime, queued, home };
    const spec = planRun(request, place);
    await stageForRun(this.places(profile, taken), request.stage, progress);
    progress.onProgress?.('checking');
    const places = { taken, head: this.head, runtimes: new Map([...runtimes, [this.head, runtime]]) };
    const checks = await checkBeforeStart(request, places, progress.signal);
    assertPassed(checks);
    await assertFlags(request, places);
    throwIfCancelled(progress.signal);
    progress.onProgress?.('starting');
    const client = await this.node.client();
    const before = spec.dir === undefined ? undefined : await earlierRun(client, spec.dir);
    const workdir = await this.workdir(profile);
    const nodes = [this.head, ...taken.filter((node) => node !== this.head)];
    const { logger = nullLogger } = this.options;
    const withPackages = this.withPackages.bind(this);
    const started = await startWithCode(
      { request, spec, before, nodes, workdir: givenWorkdir(profile), withPackages, logger },
      (spec) => client.request('run.start', { workdir, spec, ...locks.of(this.head.name) }, startOptions),
      progress,
    );
    const runAtHead = { ...started, address: placement.nodes[0]?.address ?? this.head.name };
    const others = taken.filter((node) => node !== this.head);
    await joinNodes(runAtHead, { profile, head: this.head, others, runtimes, locks });
    return { ...started, before, device: choice?.used, warnings: checks.filter(({ warning }) => warning) };
  }

  private places(profile: Profile, nodes: readonly SshNode[]): StagePlaces<SshNode> {
    const { logger = nullLogger, bundleDir, env } = this.options;
    const nodeOf = (host?: string): SshNode =>
      (host === undefined ? this.head : this.select([host])[0]) ?? this.head;
    return { profile, logger, nodeOf, nodes, sources: () => findNativeSources(bundleDir, env) };
  }

  /** The head, and where ranks may be: a host that is not named need not answer. */
  private asked({ hosts }: RunRequest): SshNode[] {
    return this.nodes.filter((node) => node === this.head || (hosts?.includes(node.name) ?? true));
  }

  private takenBy({ nodes }: Placement): SshNode[] {
    return this.nodes.filter(({ name }) => nodes.some((node) => node.host === name && hasRanks(node)));
  }

  /** Programs and runtime on these nodes, and for GPUs NVIDIA's libraries. */
  private async prepare(nodes: readonly SshNode[], wantsGpu: boolean, progress: Progress): Promise<Runtimes> {
    const survey = await this.survey(nodes, wantsGpu, progress);
    assertPassed(survey.results);
    if (wantsGpu && (await this.readPayload()).cuda.length === 0) throw withoutCuda();
    return this.withPackages((packages) => survey.prepare(packages, progress, wantsGpu));
  }

  /**
   * Why our CUDA back end cannot compute on these GPUs; undefined where it can. The nodes are
   * prepared for it unless it is plain from the beginning that it cannot.
   */
  private async tryCuda(
    placement: Placement,
    progress: Progress,
  ): Promise<{ trouble: string | undefined; runtimes?: Runtimes }> {
    const payload = await this.readPayload();
    if (payload.cuda.length === 0) return { trouble: noCudaLibrary };
    const survey = await this.survey(this.takenBy(placement), false, progress);
    const unfit = survey.findings.flatMap(({ node, probe }) => buildTrouble(node.name, probe, payload))[0];
    if (unfit !== undefined) return { trouble: unfit };
    assertPassed(survey.results);
    const runtimes = await this.withPackages((packages) => survey.prepare(packages, progress, true));
    const { env } = this.options.profile;
    const troubles = await Promise.all(
      [...runtimes].map(async ([node, runtime]) => {
        const { gpus } = placement.nodes.find(({ host }) => host === node.name) ?? {};
        const trouble = judgeCuda(gpus ?? [], await node.tryProgram(cudaTrial(runtime, env)));
        return trouble === undefined ? [] : [`${node.name}: ${trouble}`];
      }),
    );
    return { trouble: troubles.flat()[0], runtimes };
  }

  private survey(nodes: readonly SshNode[], wantsGpu: boolean, progress: Progress): Promise<Survey> {
    progress.onProgress?.(`looking at ${nodes.length === 1 ? this.head.name : `${nodes.length} nodes`}`);
    const workdir = givenWorkdir(this.options.profile);
    return Survey.of({ head: this.head, workdir }, nodes, { wantsGpu });
  }

  protected async withPackages<T>(task: (packages: Packages) => Promise<T>): Promise<T> {
    const { profile, env, logger = nullLogger } = this.options;
    const packages = new Packages({
      profile,
      cache: cacheFolder(env),
      payload: () => this.readPayload(),
      logger,
    });
    try {
      return await task(packages);
    } finally {
      packages.dispose();
    }
  }

  protected readPayload(): Promise<Payload> {
    const { bundleDir, env } = this.options;
    this.payload ??= findNativeSources(bundleDir, env).then(readPayload);
    return this.payload;
  }
}
