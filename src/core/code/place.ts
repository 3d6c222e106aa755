// The code of a run on its nodes: sent once, to the head, and from there to the others.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Progress } from '../base/progress.js';
import { portsOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { CodeRecord } from '../contracts/runSchema.js';
import { NodeRefusal, type Bootstrap } from '../setup/bootstrap.js';
import type { RelayNode } from '../setup/relay.js';
import type { Blob, CodeSnapshot } from './snapshot.js';

/** The code of a run: a snapshot just taken, or one that an earlier run has on the nodes. */
export interface RunCode {
  record: CodeRecord;
  snapshot?: CodeSnapshot;
}

/** A node, and the run's folder there where that is not the usual one below the workdir. */
export interface CodeTarget {
  node: RelayNode;
  dir?: NodePath;
}

/** Whose code it is, and where runs are. */
export interface CodeRun {
  profile: Profile;
  workdir: NodePath;
  id: string;
  logger: Logger;
}

/** Numbers of blobs, the first and the last of each piece. */
type Ranges = readonly (readonly [number, number])[];

const foundSchema = z.object({
  state: z.enum(['placed', 'unknown', 'lacks', 'whole']),
  lacks: z.array(z.tuple([z.int(), z.int()])),
  dir: z.optional(nodePathSchema),
});
type Found = z.infer<typeof foundSchema>;
const nothing = z.unknown();

/** Bytes that are written to a channel at once. */
const pieceBytes = 256 * 1024;
/** As in native/node/code/streams.py: so much is passed on while it comes. */
const mostPassedOn = 128 << 20;

interface Channel extends CodeTarget {
  bootstrap: Bootstrap;
  params: object;
}

/**
 * Puts the code into the run's folder on each of these nodes, the head first. Resolves with the
 * run's folder on the head. UserError (usage, connection, preflight), Cancelled.
 */
export async function placeCode(
  targets: readonly CodeTarget[],
  code: RunCode,
  run: CodeRun,
  progress: Progress = {},
): Promise<NodePath> {
  const sending = new Sending(code, run, progress);
  try {
    return await sending.all(targets);
  } catch (error) {
    await sending.undo();
    throw error;
  } finally {
    sending.dispose();
  }
}

/** Takes the code away again where the run was not started after all. Tries only. */
export async function dropCode(
  targets: readonly CodeTarget[],
  { workdir, id, logger }: CodeRun,
): Promise<void> {
  await Promise.all(
    targets.map(async ({ node, dir }) => {
      try {
        const bootstrap = await node.bootstrap();
        try {
          await bootstrap.request(
            'code-drop',
            { workdir, id, ...(dir === undefined ? {} : { dir }) },
            nothing,
          );
        } finally {
          bootstrap.dispose();
        }
      } catch (error) {
        logger.log('info', `the code of ${id} stays on ${node.name}: ${String(error)}`);
      }
    }),
  );
}

class Sending {
  private readonly key = randomBytes(32).toString('hex');
  private channels: Channel[] = [];

  constructor(
    private readonly code: RunCode,
    private readonly run: CodeRun,
    private readonly progress: Progress,
  ) {}

  async all(targets: readonly CodeTarget[]): Promise<NodePath> {
    const opened = await Promise.allSettled(targets.map((target) => this.open(target)));
    for (const one of opened) if (one.status === 'rejected') throw one.reason;
    const found = await Promise.all(this.channels.map((channel) => this.place(channel)));
    const [head, ...others] = targets.map(({ node }) => this.channelOf(node));
    const lacking = others.filter((channel) => found[this.channels.indexOf(channel)]?.state !== 'placed');
    const ofHead = head && found[this.channels.indexOf(head)];
    if (!head || !ofHead) throw new TypeError('a run has a head');
    const { dir } = await this.spread(head, ofHead, lacking);
    if (dir === undefined) throw new TypeError('the head did not name the folder of the run');
    const text = this.code.snapshot?.diff;
    if (text !== undefined) {
      await head.bootstrap.request('code-note', { ...head.params, text }, nothing, this.progress);
    }
    return dir;
  }

  async undo(): Promise<void> {
    const targets = this.channels.map(({ node, dir }) => ({ node, ...(dir === undefined ? {} : { dir }) }));
    this.dispose();
    if (targets.length > 0) await dropCode(targets, this.run);
  }

  dispose(): void {
    for (const { bootstrap } of this.channels) bootstrap.dispose();
  }

  private channelOf(node: RelayNode): Channel {
    const found = this.channels.find((channel) => channel.node === node);
    if (!found) throw new TypeError(`${node.name} has no channel`);
    return found;
  }

  private async open({ node, dir }: CodeTarget): Promise<void> {
    const bootstrap = await node.bootstrap(this.progress.signal);
    const { workdir, id } = this.run;
    const at = dir === undefined ? {} : { dir };
    const params = { workdir, id, snapshot: this.code.record.snapshot, ...at };
    this.channels.push({ node, ...at, bootstrap, params });
  }

  private place({ bootstrap, params }: Channel): Promise<Found> {
    return bootstrap.request('code-place', params, foundSchema, this.progress);
  }

  /** The head's code, and meanwhile that of the others. */
  private async spread(head: Channel, found: Found, lacking: readonly Channel[]): Promise<Found> {
    if (found.state === 'placed') {
      if (lacking.length > 0) await this.passOn(head, lacking);
      return found;
    }
    const lacks = await this.list(head, found);
    const bytes = this.sizeOf(lacks);
    if (lacking.length === 0 || bytes > mostPassedOn) {
      await this.send(head, lacks);
      if (lacking.length > 0) await this.passOn(head, lacking);
      return this.placed(head);
    }
    const offer = await this.offer(head, lacking);
    const sent = this.send(head, lacks).then(() => this.placed(head));
    const [result] = await Promise.all([sent, ...lacking.map((channel) => this.fetch(channel, offer, sent))]);
    return result;
  }

  private async passOn(head: Channel, lacking: readonly Channel[]): Promise<void> {
    const offer = await this.offer(head, lacking);
    await Promise.all(lacking.map((channel) => this.fetch(channel, offer, Promise.resolve())));
  }

  /** The head's port; undefined where it can offer nothing, or nobody needs it. */
  private async offer(
    { node, bootstrap, params }: Channel,
    lacking: readonly Channel[],
  ): Promise<object | undefined> {
    if (lacking.length === 0) return undefined;
    const [firstPort, lastPort] = portsOf(this.run.profile);
    const more = { key: this.key, address: node.address, firstPort, lastPort };
    try {
      const { port } = await bootstrap.request(
        'code-offer',
        { ...params, ...more },
        z.object({ port: z.int() }),
      );
      return { host: node.address, port, key: this.key };
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.otherWay !== 'direct') throw error;
      this.run.logger.log('info', `${error.message} It passes no code on.`);
      return undefined;
    }
  }

  /** From the head, or where that cannot be, from this machine once the head has it. */
  private async fetch(channel: Channel, offer: object | undefined, head: Promise<unknown>): Promise<void> {
    const { bootstrap, node, params } = channel;
    if (offer !== undefined) {
      try {
        await bootstrap.request('code-fetch', { ...params, ...offer }, foundSchema, this.progress);
        return;
      } catch (error) {
        if (!(error instanceof NodeRefusal) || error.otherWay !== 'direct') throw error;
        await head; // where that failed, its error says why
        this.run.logger.log('info', `${error.message} ${node.name} gets the code from this machine.`);
      }
    }
    await this.send(channel, await this.list(channel, await this.place(channel)));
    await this.placed(channel);
  }

  /** What the node lacks, once it knows the manifest. UserError (preflight) without a snapshot. */
  private async list({ bootstrap, params, node }: Channel, found: Found): Promise<Ranges> {
    const { snapshot } = this.code;
    if (!snapshot) {
      const what = `${node.name} no longer has the code of the earlier run`;
      throw new UserError('preflight', what, { kind: 'nameCode', folder: this.code.record.folder });
    }
    if (found.state !== 'unknown') return found.lacks;
    const { manifest } = snapshot;
    const asked = { ...params, bytes: manifest.length };
    bootstrap.input('code-take', asked).write(manifest);
    return (await bootstrap.answer('code-take', foundSchema, this.progress)).lacks;
  }

  private blobsOf(lacks: Ranges): readonly Blob[] {
    const { snapshot } = this.code;
    return lacks.flatMap(([first, last]) => snapshot?.blobs.slice(first, last + 1) ?? []);
  }

  private sizeOf(lacks: Ranges): number {
    return this.blobsOf(lacks).reduce((sum, { size }) => sum + size, 0);
  }

  private async send({ bootstrap, params }: Channel, lacks: Ranges): Promise<void> {
    const { snapshot } = this.code;
    if (lacks.length === 0 || !snapshot) return;
    const blobs = this.blobsOf(lacks);
    this.progress.onProgress?.(
      `sending the code (${blobs.length} ${blobs.length === 1 ? 'file' : 'files'}, ${(this.sizeOf(lacks) / 1e6).toFixed(1)} MB)`,
    );
    const input = bootstrap.input('code-blobs', params);
    const answer = bootstrap.answer('code-blobs', nothing, this.progress);
    let held: Buffer[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (bytes === 0) return;
      const piece = held.length === 1 ? held[0] : Buffer.concat(held);
      held = [];
      bytes = 0;
      if (input.write(piece)) return;
      await Promise.race([answer, drained(input)]); // where the node says no, its words end this
    };
    const write = async (): Promise<void> => {
      for (const blob of blobs) {
        const content = snapshot.read(blob);
        held.push(content);
        bytes += content.length;
        if (bytes >= pieceBytes) await flush();
      }
      await flush();
    };
    await Promise.all([write(), answer]);
  }

  private async placed(channel: Channel): Promise<Found> {
    const found = await this.place(channel);
    if (found.state === 'placed') return found;
    const what = `${channel.node.name}: the code changed on the node while it was put there`;
    throw new UserError('preflight', what, 'Try again');
  }
}

/** Also once the stream is gone: the answer then says why. */
async function drained(stream: NodeJS.WritableStream): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) stream.once(event, done);
  });
}
