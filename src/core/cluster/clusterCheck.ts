// Everything that a run on a cluster needs, looked at on every node: what is wrong with one host
// hides nothing about the others.
import { errorText, isCancelled, UserError } from '../base/errors.js';
import { bad, good, type CheckResult } from '../base/checks.js';
import type { Advice } from '../base/remedy.js';
import type { Progress } from '../base/progress.js';
import type { Profile } from '../contracts/profileSchema.js';
import { judgeTrainer, trainerTrial } from '../plan/preflight.js';
import { everySlotOf, placeRanks, type NodeOffer } from '../plan/placement.js';
import { givenWorkdir } from '../profiles/workdir.js';
import type { Bootstrap } from '../setup/bootstrap.js';
import type { Packages } from '../setup/packages.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { gpuChecks, offersOf } from './offers.js';
import { checkPorts } from './portCheck.js';
import type { SshNode } from './sshNode.js';
import { Survey } from './survey.js';

/** The cluster that is looked at. The head is the first of the nodes. */
export interface CheckedCluster {
  profile: Profile;
  nodes: readonly SshNode[];
  withPackages<T>(task: (packages: Packages) => Promise<T>): Promise<T>;
}

/**
 * One result for each thing and node, good and bad. A node that failed a check is not looked at
 * further; without the head only what needs no head is looked at. Cancelled.
 */
export async function checkCluster(cluster: CheckedCluster, progress: Progress = {}): Promise<CheckResult[]> {
  const { profile, nodes } = cluster;
  const found = new Findings(nodes);
  const [head] = nodes;
  if (!head) return [];
  const name = nodes.length === 1 ? head.name : `${nodes.length} nodes`;
  progress.onProgress?.(`connecting to ${name}`);
  await found.each('connection', async (node) => {
    await node.connection(progress.signal);
    return [good('connection', 'logged in')];
  });
  progress.onProgress?.(`looking at ${name}`);
  const survey = found.isGood(head) ? await surveyOf(cluster, head, found) : undefined;
  if (!survey) {
    await found.each('set-up', async (node) => node.judge(await node.probe({ hashAll: true }), false));
    return found.results;
  }
  if (!found.isGood(head)) return found.results;
  await found.all(head, 'ports', () => checkPorts(profile, found.good));
  if (!found.isGood(head)) return found.results;
  await cluster.withPackages(async (packages) => {
    const runtimes = survey.preparations(found.good, packages, progress);
    await found.each('trainer', async (node) => {
      const runtime = await runtimes.get(node);
      return [await node.withBootstrap((channel) => tryTrainer(node, channel, runtime))];
    });
  });
  const offers: NodeOffer[] = [];
  await found.each('agent', async (node) => {
    const [offer] = await offersOf([node], progress);
    if (!offer) return [];
    offers.push(offer);
    return gpuChecks(offer);
  });
  found.add(slotsOf(profile, nodes, offers));
  return found.results;
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

/** What the head and the other nodes are. Undefined where the head cannot be asked. */
async function surveyOf(
  { profile }: CheckedCluster,
  head: SshNode,
  found: Findings,
): Promise<Survey | undefined> {
  let survey: Survey | undefined;
  await found.all(head, 'set-up', async () => {
    const onTrouble = (node: SshNode, error: unknown): void => {
      found.add([failureOf(node, 'set-up', error)]);
    };
    const options = { wantsGpu: false, onTrouble };
    survey = await Survey.of({ head, workdir: givenWorkdir(profile) }, found.good, options);
    return survey.results;
  });
  return survey;
}

/** How many ranks each node has room for; why a training that takes all there is has none. */
function slotsOf(profile: Profile, nodes: readonly SshNode[], offers: readonly NodeOffer[]): CheckResult[] {
  const ordered = nodes.flatMap(({ name }) => offers.filter(({ host }) => host.host === name));
  if (ordered.length === 0) return [];
  try {
    const { nodes: placed } = placeRanks(everySlotOf(profile), 'cpu', ordered);
    return placed.map(({ host, slots }) => ({ ...good('slots', String(slots)), host }));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [bad('slots', error.what, error.hint)];
  }
}
