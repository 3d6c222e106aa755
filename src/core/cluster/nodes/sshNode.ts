// One host of a cluster: its connection, what is put on it, and the agent there.
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { Cancelled, throwIfCancelled } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { nullLogger, type Logger } from '../../base/log.js';
import { mostListed, trainerError, type FolderListing } from './machine.js';
import type { Progress } from '../../base/progress.js';
import type { AgentResult } from '../../contracts/agentApi.js';
import { Bootstrap } from '../../setup/bootstrap.js';
import { assertPassed, type CheckResult } from '../../base/checks.js';
import type { Place } from './forwardProgram.js';
import type { AmendEntries } from '../../agent/agentClient.js';
import { AgentNode } from '../../agent/agentNode.js';
import type { Payload, PayloadFile } from '../../setup/payload.js';
import { chooseCudaBuild, type CudaBuild, type CudaElsewhere } from '../../setup/cudaBuild.js';
import { checkProbe, filesFor, probeSchema, withOwnFolder, type Probe } from '../../setup/probe.js';
import { neededBytes } from '../../setup/pythonRuntime.js';
import { programsOf, type NodeRuntime } from '../../setup/runtime.js';
import { agentStream } from '../../agent/sshAgent.js';
import type { Host } from '../../contracts/profileSchema.js';
import { hasRanks } from '../../contracts/slots.js';
import { checkLibraries } from '../../setup/cudaCheck.js';
import { provideLibraries, takenOf } from '../../setup/nodeCuda.js';
import type { Installation, Packages } from '../../setup/packages.js';
import { addressOf, targetOf } from './hosts.js';
import { Reach } from './reach.js';
import { RetryPolicy, type Questions } from './retry.js';
import { jumpHosts } from '../../ssh/base/jumps.js';
import { SharedAttempt } from './sharedAttempt.js';
import type { SshChannel, SshConnection, SshTransport } from '../../ssh/base/transport.js';
import { nodePath, type NodePath } from '../../base/nodePath.js';

const takesCuda = (probe: Probe): boolean => chooseCudaBuild(probe).release !== undefined;

/** By what stands on the node's disk. */
export type FindElsewhere = (bootstrap: Bootstrap) => Promise<CudaElsewhere>;

/** What one node shares with the others of its cluster. */
export interface SshNodeOptions {
  transport: SshTransport;
  /** Through which the transport asks. */
  questions: Questions;
  payload: () => Promise<Payload>;
  /** The profile's, `~` standing for the node's home folder. */
  workdir: NodePath;
  logger?: Logger;
  /** What else is known of the runs there. */
  entries?: AmendEntries | undefined;
  /** GPUs are on other nodes, which see this one's disk: the build that they get is put here. */
  gpusElsewhere?: FindElsewhere | undefined;
}

/** What a probe looks for. */
export interface Look {
  /** Tells nodes apart from those that share a home folder with the one that left it. */
  token?: string;
  leaveToken?: boolean;
  /** Every program is read and compared, for it is run next. Else only the agent. */
  hashAll?: boolean;
  /** In place of the node's own option. */
  gpusElsewhere?: CudaElsewhere | undefined;
}

/** What a node is prepared for. */
interface Preparation extends Pick<Look, 'gpusElsewhere'> {
  cuda?: boolean;
  found?: Probe | undefined;
}

const nothing = z.unknown();
const trialSchema = z.object({ code: z.nullable(z.int()), output: z.string() });
const listingSchema = z.object({ folders: z.array(z.string()), others: z.int() });
const lookSchema = z.object({ found: z.array(z.string()) });

/** One host. Owns its connection, its agent, and its connections to places there. */
export class SshNode implements Disposable {
  readonly name: string;
  readonly node: AgentNode;
  private readonly reach: Reach;
  private readonly retries = new RetryPolicy();
  private connecting: SharedAttempt<SshConnection> | undefined;
  /** Of those who wait for the agent. */
  private readonly waiting = new Set<Progress>();
  private disposed = false;
  private taken: CudaBuild | undefined;
  private hostName: string | undefined;

  constructor(
    readonly host: Host,
    private readonly options: SshNodeOptions,
  ) {
    this.name = host.host;
    const { logger = nullLogger, entries } = options;
    this.node = new AgentNode({ open: () => this.openAgent(), logger, entries });
    this.reach = new Reach({
      where: this.name,
      connection: () => this.connection(),
      bootstrap: () => this.bootstrap(),
      logger,
    });
  }

  /** Which build of the CUDA back end it takes, and why. Known once its agent was reached. */
  get cudaBuild(): CudaBuild | undefined {
    return this.taken;
  }

  /** How the other nodes reach it. Known once this machine was connected to it. */
  get address(): string {
    return addressOf(this.host, this.hostName);
  }

  /** The one connection; made anew after it was lost. UserError (connection), Cancelled. */
  async connection(signal?: AbortSignal): Promise<SshConnection> {
    this.assertInUse();
    const known = this.connecting;
    if (known && !known.isGivenUp) {
      const connection = await known.wait(signal);
      if (!connection.isClosed) return connection;
      if (this.connecting === known) this.connecting = undefined;
      return this.connection(signal);
    }
    throwIfCancelled(signal);
    this.retries.admit();
    const attempt = new SharedAttempt(
      (own) => this.connect(own),
      (unwanted) => {
        unwanted.dispose();
      },
    );
    this.connecting = attempt;
    attempt.outcome.then(
      () => {
        this.wasAsked();
        this.retries.succeeded();
      },
      (error: unknown) => {
        if (this.connecting === attempt) this.connecting = undefined;
        this.retries.failed(error, this.wasAsked(), this.name);
      },
    );
    return attempt.wait(signal);
  }

  /**
   * What the agent says of the node. Where the agent must be installed first, `progress` is called
   * meanwhile. UserError (preflight, connection), Cancelled.
   */
  async hello(progress: Progress = {}): Promise<AgentResult<'hello'>> {
    this.waiting.add(progress);
    try {
      return await this.node.hello();
    } finally {
      this.waiting.delete(progress);
    }
  }

  /** What the node is. */
  probe(look: Look = {}): Promise<Probe> {
    return this.withBootstrap((bootstrap) => this.probeBy(bootstrap, look));
  }

  /**
   * Programs and runtime, put there when they are not; with `cuda`, NVIDIA's libraries too where
   * there is a GPU for them, or, with `gpusElsewhere`, on nodes that see this one's disk. What was
   * `found` a moment ago saves a look where nothing is missing.
   * UserError (preflight, connection), Cancelled.
   */
  async prepare(
    packages: Packages,
    progress: Progress = {},
    { cuda = false, found: earlier, gpusElsewhere }: Preparation = {},
  ): Promise<NodeRuntime> {
    const payload = await this.options.payload();
    const complete = earlier?.hasNode === true && earlier.hasRuntime === true;
    if (complete && !(cuda && takesCuda(earlier))) {
      assertPassed(this.judge(earlier, false));
      return runtimeOf(earlier, payload);
    }
    return this.withBootstrap(async (bootstrap) => {
      const found = await this.probeBy(bootstrap, { hashAll: true, gpusElsewhere });
      assertPassed(this.judge(found, false));
      await this.install(bootstrap, found, payload, progress);
      const { python, runtimeDir: dir } = found;
      const installPackages = (installation: Installation): Promise<unknown> =>
        packages.install({ node: this, bootstrap, python }, installation, nothing, progress);
      if (found.hasRuntime !== true) {
        await installPackages({ op: 'runtime', params: { dir, neededBytes }, collection: payload });
      }
      const runtime = runtimeOf(found, payload);
      if (!cuda || !takesCuda(found)) return runtime;
      const needs = { bootstrap, probe: found, payload, installPackages, logger: this.options.logger };
      return { ...runtime, nvidia: await provideLibraries(needs, progress) };
    }, progress.signal);
  }

  /** Where programs and runtime are, or would be put. UserError (preflight, connection). */
  async places(look: Look = {}): Promise<NodeRuntime> {
    const found = await this.probe(look);
    assertPassed(this.judge(found, false));
    return runtimeOf(found, await this.options.payload());
  }

  /** The results of a probe with this node's name. Without ranks it needs no library of theirs. */
  judge(probe: Probe, wantsGpu: boolean): CheckResult[] {
    const own = checkProbe(probe, wantsGpu, this.name);
    const needed = hasRanks(this.host) ? own : own.filter(({ name }) => name !== 'libgomp');
    return needed.map((result) => ({ ...result, host: this.name }));
  }

  /** The row of NVIDIA's libraries; empty where the node takes none. UserError (connection). */
  async lookAtLibraries(bootstrap: Bootstrap, probe: Probe): Promise<CheckResult[]> {
    const results = await checkLibraries(bootstrap, probe, await this.options.payload());
    return results.map((result) => ({ ...result, host: this.name }));
  }

  /** A short program, run to its end. It is killed after `seconds`, 120 where they are left out. */
  tryProgram(argv: readonly string[], seconds?: number): Promise<{ code: number | null; output: string }> {
    return this.withBootstrap((bootstrap) => this.tryProgramBy(bootstrap, argv, seconds));
  }

  /** The same, on a channel that is there. */
  tryProgramBy(
    bootstrap: Bootstrap,
    argv: readonly string[],
    seconds?: number,
  ): Promise<{ code: number | null; output: string }> {
    return bootstrap.request('try', seconds === undefined ? { argv } : { argv, seconds }, trialSchema);
  }

  /** For each path `folder`, `file`, `missing`, or why it cannot be told. */
  look(paths: readonly NodePath[]): Promise<string[]> {
    return this.withBootstrap((bootstrap) => this.lookBy(bootstrap, paths));
  }

  /** The same, on a channel that is there. */
  async lookBy(bootstrap: Bootstrap, paths: readonly NodePath[]): Promise<string[]> {
    return (await bootstrap.request('look', { paths }, lookSchema)).found;
  }

  /** What is in a folder. UserError (preflight) when it cannot be read. */
  list(path: NodePath): Promise<FolderListing> {
    const params = { path, most: mostListed };
    return this.withBootstrap((bootstrap) => bootstrap.request('list', params, listingSchema));
  }

  /** A program with its streams; no shell reads its words. */
  async run(
    argv: readonly string[],
    more: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<SshChannel> {
    const { signal, ...params } = more;
    const bootstrap = await this.bootstrap(signal);
    return bootstrap.become('run', { argv, ...params });
  }

  /**
   * A connection from the node, also where its sshd forbids forwarding. UserError (connection),
   * Cancelled.
   */
  connectTo(place: Place): Promise<Duplex> {
    return this.reach.connect(place);
  }

  /** One task on a channel of its own. */
  async withBootstrap<T>(task: (bootstrap: Bootstrap) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const bootstrap = await this.bootstrap(signal);
    try {
      return await task(bootstrap);
    } finally {
      bootstrap.dispose();
    }
  }

  dispose(): void {
    this.disposed = true;
    this.node.dispose();
    this.reach.dispose();
    this.connecting?.outcome.then(
      (connection) => {
        connection.dispose();
      },
      () => undefined,
    );
  }

  private async connect(signal: AbortSignal): Promise<SshConnection> {
    const connection = await this.options.transport.connect(targetOf(this.host), { signal });
    this.hostName = connection.hostName;
    try {
      this.assertInUse();
    } catch (error) {
      connection.dispose();
      throw error;
    }
    return connection;
  }

  /** About this host, or one on the way to it. */
  private wasAsked(): boolean {
    return (
      [this.name, ...jumpHosts(this.host.proxyJump)].filter((host) => this.options.questions.takeAsked(host))
        .length > 0
    );
  }

  private assertInUse(): void {
    if (this.disposed) throw new Cancelled('the cluster was disconnected');
  }

  /** A channel of its own with the set-up program. UserError (connection, preflight), Cancelled. */
  async bootstrap(signal?: AbortSignal): Promise<Bootstrap> {
    const { bootstrap } = await this.options.payload();
    return Bootstrap.open(await this.connection(signal), bootstrap, signal);
  }

  /** The same as `probe`, on a channel that is there. */
  async probeBy(
    bootstrap: Bootstrap,
    { token = 'none', leaveToken = false, hashAll = false, gpusElsewhere }: Look = {},
  ): Promise<Probe> {
    const payload = await this.options.payload();
    const { node, runtime, cuda } = payload;
    const { workdir } = this.options;
    const programs = {
      node,
      files: payload.files.map(describe),
      cudaNodes: cuda.map((build) => ({
        node: build.node,
        files: [...payload.files, build.library].map(describe),
      })),
    };
    const params = { workdir, runtime, token, leaveToken, hashAll, ...programs };
    const elsewhere = gpusElsewhere ?? (await this.options.gpusElsewhere?.(bootstrap));
    const found = await bootstrap.request('probe', params, probeSchema);
    return withOwnFolder(elsewhere === undefined ? found : { ...found, gpusElsewhere: elsewhere }, payload);
  }

  private async install(
    bootstrap: Bootstrap,
    probe: Probe,
    payload: Payload,
    progress: Progress,
  ): Promise<void> {
    if (probe.hasNode === true) return;
    const files = filesFor(probe, payload);
    const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const onSend = (): void =>
      progress.onProgress?.(`uploading agent and trainer (${(size / 1e6).toFixed(1)} MB)`);
    const params = {
      dir: probe.nodeDir,
      files: files.map(describe),
      links: { lib: `../../runtime/${payload.runtime}/lib` },
    };
    const body = files.map(({ bytes }) => bytes);
    await bootstrap.request('install', params, nothing, { ...progress, body, onSend });
  }

  /** The agent, put there when it is not. What keeps it from running is said first. */
  private async openAgent(): Promise<ReturnType<typeof agentStream>> {
    const payload = await this.options.payload();
    const bootstrap = await this.bootstrap();
    try {
      const probe = await this.probeBy(bootstrap);
      const needed = ['machine', 'glibc', 'workdir'];
      assertPassed(this.judge(probe, false).filter(({ name }) => needed.includes(name)));
      const onProgress = (text: string): void => {
        for (const one of this.waiting) one.onProgress?.(`${this.name}: ${text}`);
      };
      await this.install(bootstrap, probe, payload, { onProgress });
      this.taken = takenOf(probe, payload);
      const agent = runtimeOf(probe, payload).agent;
      return agentStream(bootstrap.become('serve', { agent }), this.name);
    } catch (error) {
      bootstrap.dispose();
      throw error;
    }
  }
}

/**
 * A file as the set-up program knows it, which looks at the one that is there, or asks for its
 * bytes.
 */
function describe({ name, bytes, sha256, executable }: PayloadFile): object {
  return { name, bytes: bytes.length, sha256, executable };
}

/** What the trainer prints on a node. `argv`: with its program. UserError (failed) with its words. */
export async function nodeSays(node: SshNode, argv: readonly string[]): Promise<string> {
  const { code, output } = await node.tryProgram(argv);
  if (code === 0) return output;
  throw trainerError(argv.slice(1), output);
}

function runtimeOf(probe: Probe, payload: Payload): NodeRuntime {
  const { nodeDir = nodePath(''), runtimeDir = nodePath('') } = probe;
  return { ...programsOf(nodeDir, runtimeDir), hashes: payload.hashes };
}
