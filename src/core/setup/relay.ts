// The same files on many nodes: sent once from this machine, then from node to node.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { Cancelled } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import { NodeRefusal, type Bootstrap } from './bootstrap.js';
import { sendTree, unpackedSchema, type Received, type TreeTarget } from './sendTree.js';
import { TarDigest } from '../streams/tarDigest.js';
import { portsOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';

/** While one receiver writes its disk the other one uses the link. */
const receiversEach = 2;

const offeredSchema = z.object({
  port: z.int(),
  first: z.string(),
  mark: z.nullable(z.array(z.union([z.int(), z.string()]))),
});

/** What a relay needs of a node. */
export interface RelayNode {
  readonly name: string;
  /** How the other nodes reach it. */
  readonly address: string;
  /** A channel of its own with the set-up program. UserError (connection, preflight), Cancelled. */
  bootstrap(signal?: AbortSignal): Promise<Bootstrap>;
}

interface Source {
  node: RelayNode;
  files: number;
  offer: z.infer<typeof offeredSchema>;
  /** Of what this machine sent, whoever passed it on. */
  digest: string;
  receivers: number;
}

/** What a relay brings, and where the files come to lie. */
export interface RelayOptions {
  profile: Profile;
  /** The folder, or the file, of this machine. */
  from: string;
  target: TreeTarget;
  /** There is one node only, which need not offer anything. */
  onlyOne: boolean;
  logger: Logger;
}

/**
 * Whoever has the files offers them to the others, on a port of the profile's range and under a key
 * of this relay. A node that cannot reach any that offers gets them from this machine. What nodes
 * offer is offered until `dispose`.
 */
export class Relay implements Disposable {
  private readonly key = randomBytes(32).toString('hex');
  private readonly channels: Bootstrap[] = [];
  private readonly sources: Source[] = [];
  private waiting: (() => void)[] = [];
  private seeding = false;
  private nobodyOffers = false;
  private disposed = false;

  constructor(private readonly options: RelayOptions) {}

  /**
   * Puts the files on this node. Calls may run at the same time. UserError (usage, connection,
   * preflight), Cancelled.
   */
  async deliver(node: RelayNode, progress: Progress = {}): Promise<Received> {
    const bootstrap = await node.bootstrap(progress.signal);
    this.channels.push(bootstrap);
    if (this.disposed) bootstrap.dispose();
    const source = await this.take();
    if (source) {
      try {
        const received = await this.fetch(bootstrap, source, progress);
        await this.offer(node, bootstrap, received, source.digest);
        return received;
      } catch (error) {
        if (!(error instanceof NodeRefusal) || error.otherWay !== 'direct') throw error;
        this.options.logger.log('info', `${error.message} ${node.name} gets the files from this machine.`);
      } finally {
        source.receivers--;
        this.wake();
      }
    }
    const { from, target, onlyOne } = this.options;
    try {
      const digest = onlyOne ? undefined : new TarDigest(target.as);
      const received = await sendTree(bootstrap, from, target, progress, digest);
      if (digest) await this.offer(node, bootstrap, received, digest.digest());
      return received;
    } finally {
      if (source === undefined) this.seeding = false;
      this.wake();
    }
  }

  dispose(): void {
    this.disposed = true;
    this.wake();
    for (const channel of this.channels) channel.dispose();
  }

  /** One that has room for a receiver; undefined for the node that this machine sends to. */
  private async take(): Promise<Source | undefined> {
    for (;;) {
      if (this.disposed) throw new Cancelled('the copy was given up');
      const free = this.sources.find(({ receivers }) => receivers < receiversEach);
      if (free) {
        free.receivers++;
        return free;
      }
      if (this.nobodyOffers) return undefined;
      if (this.sources.length === 0 && !this.seeding) {
        this.seeding = true;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  private fetch(bootstrap: Bootstrap, source: Source, progress: Progress): Promise<Received> {
    const { key } = this;
    const { node, files, offer, digest } = source;
    const { port, first, mark } = offer;
    const given = { host: node.address, port, key, files, first, mark, digest };
    const params = { ...given, ...this.options.target };
    return bootstrap.request('fetch', params, unpackedSchema, progress);
  }

  private async offer(
    node: RelayNode,
    bootstrap: Bootstrap,
    { files, shared }: Received,
    digest: string,
  ): Promise<void> {
    if (shared) return;
    const [firstPort, lastPort] = portsOf(this.options.profile);
    const params = { key: this.key, address: node.address, firstPort, lastPort };
    try {
      const offer = await bootstrap.request('offer', params, offeredSchema);
      this.sources.push({ node, files, offer, digest, receivers: 0 });
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      this.options.logger.log('info', `${error.message} It sends no files on.`);
      this.nobodyOffers = this.sources.length === 0;
    }
    this.wake();
  }
}
