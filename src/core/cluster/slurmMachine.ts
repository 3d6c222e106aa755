// A Slurm cluster as a place to run on. Its head is the login node: programs, folders and files of
// runs are there, on a disk that the compute nodes see, and nothing that computes.
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { agentErrors, type RunDetails } from '../contracts/agentApi.js';
import { AgentError } from '../agent/agentClient.js';
import { bad, good, assertPassed, type CheckResult } from '../base/checks.js';
import { throwIfCancelled, UserError } from '../base/errors.js';
import { nullLogger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Progress } from '../base/progress.js';
import { userHere } from '../base/userHere.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { StartSpec, StopMode } from '../contracts/runSchema.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { placeRun, type DeviceLooks, type PlacedRun } from '../plan/device.js';
import { assertTrainFlags, trainHelp } from '../plan/request/flagCheck.js';
import { checkRemoteData } from '../plan/preflight.js';
import { ofOurTrainer, type RunRequest } from '../plan/request/request.js';
import { planRun } from '../plan/spec.js';
import { givenWorkdir } from '../profiles/workdir.js';
import type { Bootstrap } from '../setup/bootstrap.js';
import type { CudaElsewhere } from '../setup/cudaBuild.js';
import { troubleElsewhere, withoutCuda } from '../setup/nodeCuda.js';
import { findElsewhere } from '../setup/notedDrivers.js';
import { findNativeSources, type NativeSources } from '../setup/sources.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { allocationOf, type Allocation } from '../slurm/allocation.js';
import { gpusPerNodeOf, stopAheadTrouble } from '../slurm/options.js';
import { nodesNow, type AllocatedNode } from '../slurm/step.js';
import { AllocatedNodes, noBoard } from './nodes/allocatedNodes.js';
import { tryTrainer } from './check/clusterCheck.js';
import {
  deviceBefore,
  earlierRun,
  type BoardPlace,
  type CheckOptions,
  type StartedRun,
} from './nodes/machine.js';
import { sitePartitions } from './sitePartitions.js';
import { SlurmQueue } from './slurmQueue.js';
import { boardsOnLogin, offersOf, scriptOf, specOf, type JobPlace } from './slurmSpec.js';
import { assertStageable, dataBefore, stageOrder } from './slurmStage.js';
import { SshMachine, type SshMachineOptions } from './sshMachine.js';
import { nodeSays } from './nodes/sshNode.js';
import { assertRequirements, startWithCode } from './nodes/startCode.js';

const submittedSchema = z.object({ id: z.string(), dir: nodePathSchema, job: z.string() });
const nothing = z.unknown();
/** Seconds without a request after which TensorBoard ends. */
const tensorboardIdle = 3600;
/** Milliseconds in which what was heard of the queue catches up with a run that has begun. */
const queuePatience = 20_000;
const queuePause = 1000;

/** Where a run goes. */
interface Placed {
  allocation: Allocation;
  placed: PlacedRun;
  /** Of a training on GPUs, also where the profile has none: the build that its nodes get. */
  elsewhere: CudaElsewhere | undefined;
}

/** The nodes that a run has now, and what was read of it. */
interface NodesOf {
  details: RunDetails;
  nodes: AllocatedNode[];
}

/** A Slurm cluster, reached at its login node. */
export class SlurmMachine extends SshMachine {
  private readonly queue: SlurmQueue;
  /** Nodes that TensorBoard is served on. */
  private readonly boards: AllocatedNodes;
  /** Nodes of which a port is reached. */
  private readonly ports: AllocatedNodes;
  /** Looks for the nodes of a run that are under way, by its folder. */
  private readonly looking = new Map<NodePath, Promise<NodesOf>>();

  constructor(options: SshMachineOptions) {
    const asked = { queue: undefined as SlurmQueue | undefined };
    const { slurm = {} } = options.profile;
    super({
      ...options,
      gpusElsewhere:
        gpusPerNodeOf(slurm) > 0 ? (bootstrap) => this.elsewhere(bootstrap, slurm.partition) : undefined,
      entries: async (entries) => (asked.queue ? asked.queue.entries(entries) : [...entries]),
    });
    this.queue = new SlurmQueue({
      withBootstrap: (task) => this.head.withBootstrap(task),
      logger: options.logger,
    });
    asked.queue = this.queue;
    const { profile, questions, logger = nullLogger } = options;
    const payload = (): ReturnType<typeof this.readPayload> => this.readPayload();
    const shared = { questions, payload, logger, workdir: givenWorkdir(profile) };
    this.boards = new AllocatedNodes(this.head, shared);
    this.ports = new AllocatedNodes(this.head, shared);
  }

  override dispose(): void {
    this.boards.dispose();
    this.ports.dispose();
    super.dispose();
  }

  /** The first node of the run's allocation, or the login node where the profile says so. */
  async boardPlace(dir: NodePath): Promise<BoardPlace> {
    const { profile } = this.options;
    if (boardsOnLogin(profile)) {
      return { client: () => this.node.client(), connectSocket: (path) => this.connectSocket(path) };
    }
    const { details, nodes } = await this.nodesOf(dir);
    const [at] = nodes;
    if (!at) {
      this.boards.letGo(dir);
      throw noBoard(details, profile.name);
    }
    const node = this.boards.reach(dir, at);
    return {
      client: () => node.node.client(),
      connectSocket: (path) => node.connectTo({ path }),
    };
  }

  letGoOfBoard(dir: NodePath): void {
    this.boards.letGo(dir);
  }

  override async connectPort(dir: NodePath, host: string, port: number): Promise<Duplex> {
    const { details, nodes } = await this.nodesOf(dir);
    const at = nodes.find((node) => node.host === host);
    if (at) return this.ports.reach(dir, at).connectTo({ host: '127.0.0.1', port });
    if (nodes.length === 0) this.ports.letGo(dir);
    throw new UserError(
      'usage',
      `${host} is no node that ${details.id} has now`,
      'Look at the state of the run',
    );
  }

  /** UserError (usage) where it is to go deep: nothing is measured on a login node. */
  override async check(
    profile: Profile,
    progress: Progress = {},
    { deep = false }: CheckOptions = {},
  ): Promise<CheckResult[]> {
    if (deep) {
      const hint = 'Run a measurement of the trainer as a job of this profile';
      throw new UserError('usage', 'a login node is for many users: nothing is measured there', hint);
    }
    const results = await super.check(profile, progress);
    const ofLoginNode = results.filter(
      ({ name }) => !['slots', 'head port', 'head address', 'GPUs'].includes(name),
    );
    if (ofLoginNode.some(({ name, ok }) => name === 'connection' && !ok)) return ofLoginNode;
    return [...ofLoginNode, await this.checkSlurm(profile)];
  }

  override async start(request: RunRequest, progress: Progress = {}): Promise<StartedRun> {
    await assertRequirements(request, progress);
    progress.onProgress?.('connecting');
    const { profile } = request;
    const { allocation, placed, elsewhere } = await this.place(request);
    const note = stopAheadTrouble(allocation.fields);
    if (elsewhere && (await this.readPayload()).cuda.length === 0) throw withoutCuda();
    const gpus = elsewhere === undefined ? {} : { cuda: true, gpusElsewhere: elsewhere };
    const runtime = await this.withPackages((packages) => this.head.prepare(packages, progress, gpus));
    const { home } = await this.node.hello();
    progress.onProgress?.('checking');
    await this.assertReady(request, runtime);
    throwIfCancelled(progress.signal);
    const planned = planRun(request, { ...placed, runtime, home });
    const client = await this.node.client();
    const before = planned.dir === undefined ? undefined : await earlierRun(client, planned.dir);
    assertOver(before);
    const { logger = nullLogger, bundleDir, env } = this.options;
    const sources = (): Promise<NativeSources> => findNativeSources(bundleDir, env);
    const stage = await stageOrder(request, await this.readPayload(), sources);
    progress.onProgress?.('submitting');
    const spec = specOf(planned, {
      request,
      allocation,
      placed,
      runtime,
      before,
      release: elsewhere?.release,
    });
    const workdir = await this.workdir(profile);
    const started = await startWithCode(
      {
        ...{ request, spec, before, nodes: [this.head], workdir: givenWorkdir(profile), logger },
        withPackages: (task) => this.withPackages(task),
      },
      (spec) => this.submit(spec, { allocation, placed, runtime, workdir, home }, stage),
      progress,
    );
    if (request.tensorboard && boardsOnLogin(profile)) {
      const { python, tensorboardServer: server } = runtime;
      await client.request('tensorboard.start', { dir: started.dir, python, server, idle: tensorboardIdle });
    }
    return { ...started, before, note, device: placed.choice?.used };
  }

  /** With the id of a run that was started now; another start has another one. */
  async batchScript(request: RunRequest, progress: Progress = {}): Promise<string> {
    progress.onProgress?.('connecting');
    const { allocation, placed, elsewhere } = await this.place(request);
    stopAheadTrouble(allocation.fields);
    const runtime = await this.head.places({ gpusElsewhere: elsewhere });
    const { home } = await this.node.hello(); // the programs are where the probe said
    throwIfCancelled(progress.signal);
    const planned = planRun(request, { ...placed, runtime, home });
    const { dir } = planned;
    const before = dir === undefined ? undefined : await earlierRun(await this.node.client(), dir);
    const spec = before?.run ? { ...planned, id: before.run.id } : planned;
    const workdir = await this.workdir(request.profile);
    return scriptOf(spec, { allocation, placed, runtime, workdir, home }).script;
  }

  /** A run that waits in the queue leaves it; one that runs is asked as any other. */
  override async stop(dir: NodePath, mode: StopMode): Promise<void> {
    const client = await this.node.client();
    const { queue, run } = await client.request('run.get', { dir });
    const job = run?.slurm?.job;
    const by = userHere();
    try {
      if (queue?.kind === 'waiting') {
        await this.ask('slurm-cancel', { dir, job: queue.job, by });
        return;
      }
      // Slurm may be about to end the job, and to start it again.
      if (job !== undefined && run?.slurm?.requeue === true) {
        await this.ask('slurm-keep-out', { dir, job, by });
      }
      await super.stop(dir, mode);
    } catch (error) {
      const unseen = error instanceof AgentError && error.code === agentErrors.badState;
      if (unseen && run?.slurm?.goesOn === true && queue?.kind !== 'running') return;
      if (!unseen || queue?.kind !== 'running') throw error;
      // The login node does not see yet who supervises the run, so its job gets the signal.
      await this.ask('slurm-signal', { job: queue.job });
    } finally {
      this.queue.expectChange();
    }
  }

  /** The nodes that the run in `dir` has now. Waits where the queue was last heard before it began. */
  private nodesOf(dir: NodePath): Promise<NodesOf> {
    const known = this.looking.get(dir);
    if (known) return known;
    const look = this.lookForNodes(dir).finally(() => this.looking.delete(dir));
    this.looking.set(dir, look);
    return look;
  }

  private async lookForNodes(dir: NodePath): Promise<NodesOf> {
    const client = await this.node.client();
    const deadline = Date.now() + queuePatience;
    for (;;) {
      const details = await client.request('run.get', { dir });
      const nodes = nodesNow(details);
      const isHeard = details.queue?.kind === 'running' || details.queue?.kind === 'ended';
      const begins = details.state?.phase === 'running' && !details.interrupted && !isHeard;
      if (nodes.length > 0 || !begins || Date.now() > deadline) return { details, nodes };
      this.queue.expectChange();
      await delay(queuePause);
    }
  }

  /** What runs where in which allocation. UserError (usage, preflight). */
  private async place(request: RunRequest): Promise<Placed> {
    const allocation = allocationOf(request);
    assertStageable(request, this.head.name);
    let found: Promise<CudaElsewhere> | undefined;
    const find = (): Promise<CudaElsewhere> =>
      (found ??= this.head.withBootstrap((bootstrap) =>
        this.elsewhere(bootstrap, allocation.fields.partition),
      ));
    const looks: DeviceLooks = {
      before: () => deviceBefore(this.node, request),
      backEnd: async () => troubleElsewhere(await this.readPayload(), await find()),
    };
    const placed = await placeRun(request, offersOf(allocation), looks);
    const wantsGpu = placed.device === 'cuda' && ofOurTrainer(request);
    return { allocation, placed, elsewhere: wantsGpu ? await find() : undefined };
  }

  /** The build of the CUDA back end that the nodes of a partition get, and why. */
  private async elsewhere(bootstrap: Bootstrap, partition = ''): Promise<CudaElsewhere> {
    const { profile } = this.options;
    const asked = profile.slurm?.cuda;
    if (asked !== undefined) return { release: asked, why: 'the profile asks for it' };
    const { cuda } = await this.readPayload();
    const partitions = partition.split(',').filter((name) => name !== '');
    const where = { workdir: givenWorkdir(profile), partitions };
    return findElsewhere(bootstrap, where, (wanted) => cuda.some(({ release }) => release === wanted));
  }

  /** The job's script and its place in the queue. UserError (preflight) where Slurm refuses it. */
  private async submit(
    spec: StartSpec,
    where: JobPlace,
    stage: object | undefined,
  ): Promise<{ id: string; dir: NodePath }> {
    const { id, dir, script } = scriptOf(spec, where);
    try {
      return await this.head.withBootstrap((bootstrap) =>
        bootstrap.request(
          'slurm-submit',
          { dir, script, stage, run: { ...spec, id, dir: undefined } },
          submittedSchema,
        ),
      );
    } finally {
      this.queue.expectChange();
    }
  }

  /** What a start needs of the login node. UserError (preflight). */
  private async assertReady(request: RunRequest, runtime: NodeRuntime): Promise<void> {
    const { head } = this;
    const results = await head.withBootstrap(async (channel) => {
      const look = (paths: NodePath[]): Promise<string[]> => head.lookBy(channel, paths);
      const data = await checkRemoteData(dataBefore(request), look, request.profile.name);
      return request.kind === 'train' ? [...data, await tryTrainer(head, channel, runtime)] : data;
    });
    assertPassed(results.map((result) => ({ ...result, host: head.name })));
    await assertTrainFlags(request, () => nodeSays(head, [runtime.trainer, ...trainHelp]));
  }

  private async checkSlurm({ slurm = {} }: Profile): Promise<CheckResult> {
    try {
      const { version, partitions } = await sitePartitions(this);
      const wanted = slurm.partition?.split(',') ?? [];
      const names = partitions.map(({ name }) => name);
      const missing = wanted.find((name) => !names.includes(name));
      if (missing !== undefined) {
        const hint = `Name one of its partitions: ${names.join(', ')}`;
        return this.judged(bad('slurm', `Slurm has no partition ${missing}`, hint));
      }
      const used = partitions.filter(({ name, isDefault }) =>
        wanted.length === 0 ? isDefault : wanted.includes(name),
      );
      const nodes = used.reduce((sum, partition) => sum + partition.nodes, 0);
      const idle = used.reduce((sum, partition) => sum + partition.idleNodes, 0);
      const name = wanted.join(',') || 'the default partition';
      return this.judged(good('slurm', `${version}, ${name}: ${idle} of ${nodes} nodes idle`));
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'preflight') throw error;
      return this.judged(bad('slurm', error.what, error.hint));
    }
  }

  private judged(result: CheckResult): CheckResult {
    return { ...result, host: this.head.name };
  }

  private async ask(op: string, params: object): Promise<void> {
    await this.head.withBootstrap((bootstrap) => bootstrap.request(op, params, nothing));
  }
}

/** Of a folder that the user named. UserError (usage) where its run is under way. */
function assertOver(before: RunDetails | undefined): void {
  if (!before?.run) return;
  const status = statusOf(before);
  if (isOver(status)) return;
  const what = `a run in ${before.dir} is under way: it is ${status}`;
  throw new UserError('usage', what, 'Attach to it, or stop it first');
}
