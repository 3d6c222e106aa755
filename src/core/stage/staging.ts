// A folder of one node on others: listed and read once where it lies, then from node to node. What
// the nodes do is in native/node/stage/stage.py.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Progress } from '../base/progress.js';
import { portRangeOf, portsOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import { NodeRefusal, type Bootstrap } from '../setup/bootstrap.js';
import type { RelayNode } from '../setup/relay.js';
import { chainOf, givers, progressText, type NodePlan } from './order.js';

/** What is staged, and how. */
export interface StagingOptions {
  profile: Profile;
  logger: Logger;
  source: RelayNode;
  from: NodePath;
  /** `name` says where it goes, once it is known whether `from` is a folder. UserError (usage). */
  target: (isFolder: boolean) => { to: NodePath; as?: string };
  nodes: readonly RelayNode[];
  /** Leaves a record in the folder: the next time sends what changed, and removes what is gone. */
  keep: boolean;
  /** Writes over files that no stage has put there. */
  replace: boolean;
  /** Reads what is there and compares its sums. */
  verify: boolean;
}

/** What one node got. `shared`: it sees the source's own files. */
interface StagedNode {
  host: string;
  files: number;
  bytes: number;
  shared: boolean;
}

/** What was done. `files` and `bytes` of all that is there, `fromSource` that left the source. */
export interface Staged {
  files: number;
  bytes: number;
  fromSource: number;
  nodes: StagedNode[];
  /** Names, at most 5, of what is neither a file nor a folder, and how many there are. */
  leftOut: string[];
  leftOutCount: number;
}

const listedSchema = z.object({
  tree: z.string(),
  isFolder: z.boolean(),
  folder: nodePathSchema,
  files: z.int(),
  bytes: z.int(),
  first: z.string(),
  mark: z.nullable(z.array(z.union([z.int(), z.string()]))),
  leftOut: z.array(z.string()),
  leftOutCount: z.int(),
});
const plannedSchema = z.object({
  state: z.enum(['same', 'whole', 'lacks']),
  files: z.int(),
  bytes: z.int(),
  gone: z.int(),
  /** By which others on the same disk know it. */
  maker: z.string(),
});
/** `digest`: of the sums of all files. */
const gotSchema = z.object({
  changed: z.array(z.string()),
  changedCount: z.int(),
  digest: z.nullable(z.string()),
});
const portSchema = z.object({ port: z.int() });
const sentSchema = z.object({ bytes: z.int(), digest: z.nullable(z.string()) });

/** How often a folder is listed once more because files changed while they were sent. */
const mostRounds = 3;

interface Place {
  host: string;
  port: number;
}

interface Channel {
  node: RelayNode;
  bootstrap: Bootstrap;
  /** Of the sums of what it has. */
  digest: string | null;
  /** Where others get from it. */
  place: Place | undefined;
  plan: NodePlan;
  /** What it is called in the lease of a disk that several nodes see. */
  maker: string;
  done: number;
  isOver: boolean;
}

/**
 * Puts the folder on all nodes. Where it fails, what came stays, and the next time goes on. UserError
 * (usage, connection, preflight), Cancelled.
 */
export async function stageOn(options: StagingOptions, progress: Progress = {}): Promise<Staged> {
  const staging = new Staging(options, progress);
  try {
    return await staging.all();
  } finally {
    staging.dispose();
  }
}

class Staging implements Disposable {
  private readonly key = randomBytes(32).toString('hex');
  private readonly opened: Bootstrap[] = [];
  private readonly channels: Channel[] = [];
  private readonly staged = new Map<RelayNode, StagedNode>();

  constructor(
    private readonly options: StagingOptions,
    private readonly progress: Progress,
  ) {}

  async all(): Promise<Staged> {
    const { source, from, nodes, keep } = this.options;
    const given = await this.open(source);
    await settled(
      nodes.map(async (node) => {
        const bootstrap = await this.open(node);
        const plan: NodePlan = { state: 'lacks', files: 0, bytes: 0 };
        const none = { digest: null, place: undefined, maker: '', done: 0, isOver: false };
        this.channels.push({ node, bootstrap, plan, ...none });
      }),
    );
    this.channels.sort((one, other) => nodes.indexOf(one.node) - nodes.indexOf(other.node));
    let place: Place | undefined;
    for (let round = 1; ; round++) {
      this.progress.onProgress?.(`looking at ${from} on ${source.name}`);
      const listed = await given.request('stage-list', { from }, listedSchema, this.progress);
      if (listed.files === 0) {
        throw new UserError(
          'preflight',
          `${source.name}: there is no file in ${from}`,
          'Name another folder',
        );
      }
      const target = this.options.target(listed.isFolder);
      const { tree, first, mark } = listed;
      const { replace, verify } = this.options;
      const params = { ...target, tree, first, mark, keep, replace, verify, key: this.key };
      place ??= await this.offer(source, given);
      const changed = await this.round(params, place);
      if (changed === undefined) return this.summary(listed, given);
      if (round === mostRounds) {
        const hint = 'Try again once nothing writes to it';
        throw new UserError('preflight', `${source.name}: ${changed} changed while it was sent`, hint);
      }
    }
  }

  dispose(): void {
    for (const bootstrap of this.opened) bootstrap.dispose();
  }

  private async open(node: RelayNode): Promise<Bootstrap> {
    const bootstrap = await node.bootstrap(this.progress.signal);
    this.opened.push(bootstrap);
    return bootstrap;
  }

  private async offer(node: RelayNode, bootstrap: Bootstrap): Promise<Place> {
    const [firstPort, lastPort] = portsOf(this.options.profile);
    const params = { key: this.key, address: node.address, firstPort, lastPort };
    const { port } = await bootstrap.request('stage-offer', params, portSchema, this.progress);
    return { host: node.address, port };
  }

  /** One listing on all nodes. Returns the name of a file that changed meanwhile. */
  private async round(params: object, source: Place): Promise<string | undefined> {
    this.progress.onProgress?.('comparing what the nodes have');
    await settled(this.channels.map((channel) => this.plan(channel, params, source)));
    for (const channel of this.channels) {
      const { name } = channel.node;
      const { state, files, bytes } = channel.plan;
      const before = this.staged.get(channel.node) ?? { host: name, files: 0, bytes: 0, shared: false };
      this.staged.set(channel.node, {
        host: name,
        files: before.files + files,
        bytes: before.bytes + bytes,
        shared: state === 'same',
      });
      channel.done = 0;
      channel.isOver = state !== 'lacks';
    }
    const chain = chainOf(
      this.channels,
      this.channels.find(({ node }) => node === this.options.source),
    );
    await settled(
      chain.slice(0, -1).map(async (channel) => {
        channel.place ??= await this.offerTo(channel);
      }),
    );
    const places = chain.map(({ place }) => place);
    const makers = Object.fromEntries(this.channels.map(({ maker, node }) => [maker, node.name]));
    const answers = await settled(
      chain
        .map(async (channel, index) => {
          const from = givers(places, index, source).filter((place) => place !== undefined);
          const all = { ...params, from, makers };
          const answer = await channel.bootstrap.request('stage-get', all, gotSchema, {
            ...this.progress,
            onProgress: (text) => {
              this.show(channel, text);
            },
          });
          channel.isOver = true;
          channel.digest = answer.digest;
          return answer;
        })
        .map((getting, index) =>
          getting.catch((error: unknown) => {
            throw this.explained(error, chain[index]?.node);
          }),
        ),
    );
    return answers.find(({ changedCount }) => changedCount > 0)?.changed[0];
  }

  /** Asks the source for the list, and else a node that has it. */
  private async plan(channel: Channel, params: object, source: Place): Promise<void> {
    try {
      const all = { ...params, from: [source] };
      const { bootstrap } = channel;
      const { maker, ...plan } = await bootstrap.request('stage-plan', all, plannedSchema, this.progress);
      Object.assign(channel, { plan, maker });
    } catch (error) {
      throw this.explained(error, channel.node);
    }
  }

  /** Undefined for a node that can offer nothing; others get from those before it. */
  private async offerTo({ node, bootstrap }: Channel): Promise<Place | undefined> {
    try {
      return await this.offer(node, bootstrap);
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.otherWay !== 'direct') throw error;
      this.options.logger.log('info', `${error.message} It sends no files on.`);
      return undefined;
    }
  }

  /** Nothing passes through this machine, so a port that is closed is the user's to open. */
  private explained(error: unknown, node: RelayNode | undefined): unknown {
    if (!(error instanceof NodeRefusal) || error.otherWay !== 'direct' || !node) return error;
    const { profile } = this.options;
    const remedy = {
      kind: 'openPorts',
      profile: profile.name,
      host: node.name,
      range: portRangeOf(profile),
    } as const;
    return new UserError('preflight', error.what, remedy, { cause: error });
  }

  private show(channel: Channel, text: string): void {
    const [, done] = /^(\d+) \d+$/.exec(text) ?? [];
    if (done === undefined) {
      this.progress.onProgress?.(`${channel.node.name}: ${text}`);
      return;
    }
    channel.done = Number(done);
    const shown = this.channels
      .filter(({ plan }) => plan.state === 'lacks')
      .map(({ node, done, plan, isOver }) => ({ name: node.name, done, bytes: plan.bytes, isOver }));
    this.progress.onProgress?.(progressText(shown));
  }

  /**
   * Each node has the sums of the source, or, where the source did not read all, those of the node
   * before it: one that passes on something else is found.
   */
  private assertSame(digest: string | null): void {
    const chain = this.channels.filter((channel) => channel.digest !== null);
    const right = digest ?? chain[0]?.digest;
    const other = chain.find((channel) => channel.digest !== right);
    if (!other) return;
    const what = `${other.node.name}: what it has differs from what the others have`;
    throw new UserError('preflight', what, 'Remove the folder there, and stage it again');
  }

  private async summary(
    { files, bytes, leftOut, leftOutCount }: z.infer<typeof listedSchema>,
    given: Bootstrap,
  ): Promise<Staged> {
    const sent = await given.request('stage-sent', {}, sentSchema, this.progress);
    this.assertSame(sent.digest);
    const nodes = this.channels.flatMap(({ node }) => this.staged.get(node) ?? []);
    return { files, bytes, fromSource: sent.bytes, nodes, leftOut, leftOutCount };
  }
}

/** All of them, also where one fails; then its error. */
async function settled<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(tasks);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
