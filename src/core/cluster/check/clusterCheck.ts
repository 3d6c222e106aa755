// Everything that a run on a cluster needs, looked at on every node: what is wrong with one host
// hides nothing about the others.
import { errorText, isCancelled, UserError } from '../../base/errors.js';
import { bad, good, type CheckResult } from '../../base/checks.js';
import type { NodePath } from '../../base/nodePath.js';
import type { Advice } from '../../base/remedy.js';
import type { Progress } from '../../base/progress.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { hasRanks } from '../../contracts/slots.js';
import { judgeGpus, type SampledNode } from '../../check/gpus.js';
import { judgeTrainer, trainerTrial } from '../../plan/preflight.js';
import { everySlotOf, placeRanks, type NodeOffer } from '../../plan/placement.js';
import { givenWorkdir } from '../../profiles/workdir.js';
import type { Bootstrap } from '../../setup/bootstrap.js';
import type { Packages } from '../../setup/packages.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import { lookAtNodes } from './nodeFacts.js';
import { NodeChannels, type CheckedNode } from '../nodes/nodeChannels.js';
import { lookForData, measureReads } from './dataCheck.js';
import { measureDevices, measureLinks, type Tried } from './deepCheck.js';
import { gpuRow, measureGpus, type GpuNode } from './deepGpus.js';
import type { CheckOptions } from '../nodes/machine.js';
import { gpuChecks, offerIn } from '../nodes/offers.js';
import { checkPorts } from './portCheck.js';
import type { SshNode } from '../nodes/sshNode.js';
import { Survey, type Finding } from '../nodes/survey.js';

/** The cluster that is looked at. The head is the first of the nodes. */
export interface CheckedCluster {
  profile: Profile;
  nodes: readonly SshNode[];
  withPackages<T>(task: (packages: Packages) => Promise<T>): Promise<T>;
}

/**
 * One result for each thing and node, good and bad. A node that failed a check is still compared
 * with the others as far as it can be asked, but nothing is put there or started; without the head
 * that is done nowhere. Cancelled.
 */
export async function checkCluster(
  cluster: CheckedCluster,
  progress: Progress = {},
  options: CheckOptions = {},
): Promise<CheckResult[]> {
  const channels = new NodeChannels(progress.signal);
  try {
    return await new ClusterCheck(cluster, channels, progress, options).results();
  } finally {
    channels.dispose();
  }
}

/** One check of one cluster. */
class ClusterCheck {
  private readonly found: Findings;
  private readonly head: SshNode | undefined;

  constructor(
    private readonly cluster: CheckedCluster,
    private readonly channels: NodeChannels,
    private readonly progress: Progress,
    private readonly options: CheckOptions,
  ) {
    this.found = new Findings(cluster.nodes);
    this.head = cluster.nodes[0];
  }

  async results(): Promise<CheckResult[]> {
    const { found, head, progress } = this;
    const { nodes, profile } = this.cluster;
    if (!head) return [];
    const name = nodes.length === 1 ? head.name : `${nodes.length} nodes`;
    progress.onProgress?.(`connecting to ${name}`);
    await found.each('connection', async (node) => {
      await node.connection(progress.signal);
      return [good('connection', 'logged in')];
    });
    const isHeadThere = found.isGood(head);
    progress.onProgress?.(`looking at ${name}`);
    const asked = await this.open();
    const survey = isHeadThere ? await this.survey(head, asked) : undefined;
    if (!survey) {
      await found.each('set-up', async (node) => {
        const probe = await node.probeBy(await this.channels.of(node), { hashAll: true });
        return node.judge(probe, false);
      });
    }
    found.add(await lookAtNodes(profile, asked, found.results));
    const { data } = this.options;
    if (data !== undefined) {
      await found.each('data', async (node) => {
        if (!hasRanks(node.host)) return [];
        return [await lookForData(profile.name, data, { node, channel: await this.channels.of(node) })];
      });
    }
    const probes = new Map(survey?.findings.map(({ node, probe }) => [node, probe]));
    await found.each('NVIDIA libraries', async (node) => {
      const probe = probes.get(node);
      return probe ? node.lookAtLibraries(await this.channels.of(node), probe) : [];
    });
    progress.onProgress?.(`trying the ways between ${name}`);
    const ways = await attempt(head, 'ports', () => checkPorts(profile, asked, head.name));
    const unreached = new Set(ways.flatMap(({ ok, host }) => (ok ? [] : [host])));
    if (survey && found.isGood(head)) await this.tryPrograms(survey, unreached);
    found.add(ways); // last, since a program runs where a port is closed as well
    return found.results;
  }

  /** Links, then CPUs, of the good nodes that reach one another. */
  private async measure(
    survey: Survey,
    trainers: ReadonlyMap<SshNode, NodePath>,
    unreached: ReadonlySet<string | undefined>,
  ): Promise<void> {
    const { found, head, progress } = this;
    const { profile } = this.cluster;
    if (!head) return;
    const nodes = await Promise.all(
      survey.findings.flatMap(({ node, probe: { cores } }) => {
        const trainer = trainers.get(node);
        if (!trainer || !found.isGood(node)) return [];
        return [this.channels.of(node).then((channel) => ({ node, channel, trainer, cores }))];
      }),
    );
    progress.onProgress?.('measuring the links between the nodes');
    const reaching = nodes.filter(({ node }) => !unreached.has(node.name));
    found.add(await attempt(head, 'link', () => measureLinks(profile, reaching)));
    const { data } = this.options;
    if (data !== undefined) {
      progress.onProgress?.('measuring how fast the data is read');
      found.add(await attempt(head, 'read rate', () => measureReads(data, nodes)));
    }
    progress.onProgress?.('measuring the CPUs');
    found.add(await attempt(head, 'matmul', () => measureDevices(nodes)));
  }

  /** A channel to each good node. */
  private async open(): Promise<CheckedNode[]> {
    const asked: CheckedNode[] = [];
    await this.found.each('set-up', async (node) => {
      asked.push({ node, channel: await this.channels.of(node) });
      return [];
    });
    return this.cluster.nodes.flatMap((node) => asked.find((each) => each.node === node) ?? []);
  }

  /** What the head and the other nodes are. Undefined where the head cannot be asked. */
  private async survey(head: SshNode, asked: readonly CheckedNode[]): Promise<Survey | undefined> {
    const { found, channels } = this;
    let survey: Survey | undefined;
    await found.all(head, 'set-up', async () => {
      survey = await Survey.of(
        { head, workdir: givenWorkdir(this.cluster.profile) },
        asked.map(({ node }) => node),
        {
          wantsGpu: false,
          onTrouble: (node, error) => {
            found.add([failureOf(node, 'set-up', error)]);
          },
          channelOf: (node) => channels.of(node),
        },
      );
      return survey.results;
    });
    return survey;
  }

  /**
   * Puts trainer and agent on the good nodes, and starts them. What installs or stays has a channel
   * of its own, and behind a head all channels are of one connection: then ours are given back
   * first.
   */
  private async tryPrograms(survey: Survey, unreached: ReadonlySet<string | undefined>): Promise<void> {
    const { found, progress } = this;
    const isComplete = ({ probe }: Finding): boolean => probe.hasNode === true && probe.hasRuntime === true;
    if (!survey.findings.every(isComplete)) this.channels.dispose();
    const { profile, nodes } = this.cluster;
    const trainers = new Map<SshNode, NodePath>();
    await this.cluster.withPackages(async (packages) => {
      const runtimes = survey.preparations(found.good, packages, progress);
      await found.each('trainer', async (node) => {
        const runtime = await runtimes.get(node);
        if (!hasRanks(node.host)) return [];
        if (runtime) trainers.set(node, runtime.trainer);
        return [await tryTrainer(node, await this.channels.of(node), runtime)];
      });
    });
    if (this.options.deep === true) await this.measure(survey, trainers, unreached);
    this.channels.dispose();
    const offers: NodeOffer[] = [];
    const sampled: SampledNode[] = [];
    await found.each('agent', async (node) => {
      const { cores } = await node.hello(progress);
      const sample = await (await node.node.client()).request('host.sample');
      const offer = offerIn(sample, cores, node.host, node.address);
      offers.push(offer);
      sampled.push({ host: node.name, sample });
      return gpuChecks(offer);
    });
    found.add(judgeGpus(sampled));
    found.add(slotsOf(profile, nodes, offers));
    if (this.options.deep === true) await this.measureGpus(survey, offers);
  }

  /** The GPUs of the good nodes, with NVIDIA's libraries, which are put there where they lack. */
  private async measureGpus(survey: Survey, offers: readonly NodeOffer[]): Promise<void> {
    const { found, progress, head } = this;
    const { env = {} } = this.cluster.profile;
    const having = offers.filter(({ gpus }) => gpus.length > 0);
    if (!head || having.length === 0) return;
    const nodes: GpuNode[] = [];
    await this.cluster.withPackages(async (packages) => {
      await found.each(gpuRow, async (node) => {
        const offer = having.find(({ host }) => host === node.host);
        if (!offer) return [];
        const probe = survey.findings.find((finding) => finding.node === node)?.probe;
        const runtime = await node.prepare(packages, progress, { cuda: true, found: probe });
        if (runtime.nvidia === undefined) {
          return [good(gpuRow, `not measured: ${node.cudaBuild?.why ?? 'it takes no build of CUDA'}`)];
        }
        const run = (argv: readonly string[]): Promise<Tried> => node.tryProgram(argv);
        nodes.push({ name: node.name, runtime, gpus: offer.gpus, run });
        return [];
      });
    });
    progress.onProgress?.('measuring the GPUs');
    found.add(await attempt(head, gpuRow, () => measureGpus(nodes, env)));
  }
}

/** The trainer starts there, and its libraries are there. */
export async function tryTrainer(
  node: SshNode,
  channel: Bootstrap,
  runtime: NodeRuntime | undefined,
): Promise<CheckResult> {
  if (!runtime) throw new TypeError(`${node.name} was not prepared`);
  const { trainer } = runtime;
  const { code, output } = await node.tryProgramBy(channel, [trainer, ...trainerTrial]);
  return { ...judgeTrainer(trainer, { ending: code, output }), host: node.name };
}

/** What is known of the nodes so far. */
class Findings {
  readonly results: CheckResult[] = [];
  private readonly failed = new Set<string>();

  constructor(private readonly nodes: readonly SshNode[]) {}

  /** Those of which nothing bad is known, the head first where it is one of them. */
  get good(): SshNode[] {
    return this.nodes.filter((node) => this.isGood(node));
  }

  isGood({ name }: SshNode): boolean {
    return !this.failed.has(name);
  }

  add(results: readonly CheckResult[]): void {
    this.results.push(...results);
    for (const { ok, host } of results) if (!ok && host !== undefined) this.failed.add(host);
  }

  /** At all good nodes at once. What is thrown is that node's failure in the check `name`. */
  async each(name: string, look: (node: SshNode) => Promise<CheckResult[]>): Promise<void> {
    const found = await Promise.all(this.good.map((node) => attempt(node, name, () => look(node))));
    this.add(found.flat());
  }

  /** The same of one look that is about several nodes; what is thrown is the failure of `node`. */
  async all(node: SshNode, name: string, look: () => Promise<CheckResult[]>): Promise<void> {
    this.add(await attempt(node, name, look));
  }
}

async function attempt(
  node: SshNode,
  name: string,
  look: () => Promise<CheckResult[]>,
): Promise<CheckResult[]> {
  const host = node.name;
  try {
    return (await look()).map((result) => ({ host, ...result }));
  } catch (error) {
    return [failureOf(node, name, error)];
  }
}

/** What was thrown, as a check that failed. Throws Cancelled on. */
function failureOf({ name: host }: SshNode, name: string, error: unknown): CheckResult {
  if (isCancelled(error)) throw error;
  const advice: Advice = error instanceof UserError ? error.hint : { kind: 'report', tryFirst: true };
  return { ...bad(name, error instanceof UserError ? error.what : errorText(error), advice), host };
}

/** How many ranks each node has room for; why a training that takes all there is has none. */
function slotsOf(profile: Profile, nodes: readonly SshNode[], offers: readonly NodeOffer[]): CheckResult[] {
  const ordered = nodes.flatMap(({ name }) => offers.filter(({ host }) => host.host === name));
  if (ordered.length === 0) return [];
  try {
    const { nodes: placed } = placeRanks(everySlotOf(profile), 'cpu', ordered);
    return placed.map((node) => ({
      ...good('slots', hasRanks(node) ? String(node.slots) : '0, it holds the runs'),
      host: node.host,
    }));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [bad('slots', error.what, error.hint)];
  }
}
