// Packages that nodes need: by their own pip, or for those that cannot fetch them once from this
// machine, then from node to node.
import { join as joinHere } from 'node:path';
import * as z from 'zod/mini';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import { join, type NodePath } from '../base/nodePath.js';
import { NodeRefusal, type Bootstrap } from './bootstrap.js';
import type { Payload } from './payload.js';
import { ensureWheels } from './wheels.js';
import type { Profile } from '../contracts/profileSchema.js';
import { givenWorkdir } from '../profiles/workdir.js';
import { Relay, type RelayNode } from './relay.js';

/** What the packages of a cluster's nodes depend on. */
export interface PackagesOptions {
  profile: Profile;
  /** This machine's folder for what was fetched. */
  cache: string;
  logger: Logger;
}

/** What is brought together: its name, which the pinned text gives it, and that text. */
export type Collection = Pick<Payload, 'runtime' | 'requirements' | 'pip'>;

/** A request to a node's set-up program, which runs pip there. */
export interface Installation {
  op: 'runtime' | 'cuda';
  /** What the request says beside the requirements. */
  params: object;
  collection: Collection;
}

/** What it brought stands on the nodes until `dispose`. */
export class Packages implements Disposable {
  /** One for each collection and version of Python, whose packages differ. */
  private readonly relays = new Map<string, Promise<Relay>>();

  constructor(private readonly options: PackagesOptions) {}

  /**
   * By the node's own pip; where that cannot, from packages that this machine fetches and sends.
   * UserError (preflight, connection), Cancelled.
   */
  async install(
    { node, bootstrap, python }: { node: RelayNode; bootstrap: Bootstrap; python: readonly number[] },
    { op, params, collection }: Installation,
    progress: Progress,
  ): Promise<void> {
    const request = { ...params, requirements: collection.requirements };
    try {
      await bootstrap.request(op, request, z.unknown(), progress);
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.otherWay !== 'wheels') throw error;
      this.options.logger.log('info', `${error.message} The packages come from this machine.`);
      const wheels = await this.bring(node, python, collection, progress);
      // pip itself comes with them, and is run: which one it must be is said here, over SSH.
      await bootstrap.request(op, { ...request, wheels, pip: collection.pip }, z.unknown(), progress);
    }
  }

  dispose(): void {
    for (const relay of this.relays.values()) {
      relay.then(
        (opened) => {
          opened.dispose();
        },
        () => undefined, // whoever asked for it was told
      );
    }
  }

  /** Returns their folder on the node. */
  private async bring(
    node: RelayNode,
    python: readonly number[],
    collection: Collection,
    progress: Progress,
  ): Promise<NodePath> {
    const key = [collection.runtime, ...python.slice(0, 2)].join('.');
    const relay = this.relays.get(key) ?? this.open(python, collection, progress);
    this.relays.set(key, relay);
    const opened = await relay;
    progress.onProgress?.('waiting for the packages');
    const { folder } = await opened.deliver(node, progress);
    return folder;
  }

  private async open(
    python: readonly number[],
    { runtime, requirements, pip }: Collection,
    progress: Progress,
  ): Promise<Relay> {
    const { profile, cache, logger } = this.options;
    const root = joinHere(cache, 'wheels');
    const from = await ensureWheels({ root, runtime, requirements, pip, python }, progress);
    return new Relay({
      profile,
      from,
      target: { to: join(givenWorkdir(profile), 'wheels', runtime), temporary: true },
      onlyOne: profile.hosts?.length === 1,
      logger,
    });
  }
}
