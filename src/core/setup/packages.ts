// Packages that nodes need: by their own pip, or for those that cannot fetch them once from this
// machine, then from node to node.
import { rmSync } from 'node:fs';
import { join as joinHere } from 'node:path';
import type * as z from 'zod/mini';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import { join, type NodePath } from '../base/nodePath.js';
import { NodeRefusal, type Bootstrap } from './bootstrap.js';
import type { Payload } from './payload.js';
import { ensureWheels, fetchOwnWheels, type OwnRequirements, type WheelsOptions } from './wheels.js';
import type { Profile } from '../contracts/profileSchema.js';
import { givenWorkdir } from '../profiles/workdir.js';
import { Relay, type RelayNode } from './relay.js';

/** What the packages of a cluster's nodes depend on. */
export interface PackagesOptions {
  profile: Profile;
  /** This machine's folder for what was fetched. */
  cache: string;
  /** Has the pinned line of pip itself. */
  payload: () => Promise<Pick<Payload, 'pip'>>;
  logger: Logger;
}

/** What is brought together: its name, which the text gives it, and that text. */
export interface Collection extends Pick<Payload, 'runtime' | 'requirements'> {
  /** Where the requirements are a user's. */
  own?: OwnRequirements;
}

/** A request to a node's set-up program, which runs pip there. */
export interface Installation {
  op: 'runtime' | 'cuda' | 'environment-lock' | 'environment';
  /** What the request says beside the requirements. */
  params: object;
  collection: Collection;
}

/** Whether one of the requirements is named by an address. */
const hasAddress = (requirements: string): boolean => /^[^-\n][^;\n]*@/m.test(requirements);

/** A node, a channel to it, and the Python that the packages are for. */
interface PackagesNode {
  node: RelayNode;
  bootstrap: Bootstrap;
  python: readonly number[];
}

/** What puts packages on a node. */
export type Installer = Pick<Packages, 'install'>;

/** Of this machine, whose pip has no other way than its own. */
export const ownPip = {
  install: <S extends z.ZodMiniType>(
    { bootstrap }: Pick<PackagesNode, 'bootstrap'>,
    { op, params, collection: { requirements } }: Installation,
    schema: S,
    progress: Progress,
  ): Promise<z.output<S>> => bootstrap.request(op, { requirements, ...params }, schema, progress),
} satisfies Installer;

/** What it brought stands on the nodes until `dispose`. */
export class Packages implements Disposable {
  /** One for each collection and version of Python, whose packages differ. */
  private readonly relays = new Map<string, Promise<Relay>>();
  /** Folders of this machine with packages that only one user's requirements need. */
  private readonly own: string[] = [];

  constructor(private readonly options: PackagesOptions) {}

  /**
   * By the node's own pip; where that cannot, from packages that this machine fetches and sends.
   * Resolves with the node's answer. UserError (preflight, connection), Cancelled.
   */
  async install<S extends z.ZodMiniType>(
    { node, bootstrap, python }: PackagesNode,
    { op, params, collection }: Installation,
    schema: S,
    progress: Progress,
  ): Promise<z.output<S>> {
    const request = { requirements: collection.requirements, ...params };
    try {
      return await bootstrap.request(op, request, schema, progress);
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.otherWay !== 'wheels') throw error;
      // pip would run here what an address brings.
      if (collection.own && hasAddress(collection.requirements)) throw error;
      this.options.logger.log('info', `${error.message} The packages come from this machine.`);
      const wheels = await this.bring(node, python, collection, progress);
      // pip itself comes with them, and is run: which one it must be is said here, over SSH.
      const { pip } = await this.options.payload();
      return await bootstrap.request(op, { ...request, wheels, pip }, schema, progress);
    }
  }

  dispose(): void {
    for (const folder of this.own) rmSync(folder, { recursive: true, force: true });
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

  private async fetchOwn(wanted: WheelsOptions, progress: Progress): Promise<string> {
    const { folder, wheels } = await fetchOwnWheels(wanted, progress);
    this.own.push(folder);
    return wheels;
  }

  private async open(python: readonly number[], collection: Collection, progress: Progress): Promise<Relay> {
    const { profile, cache, logger, payload } = this.options;
    const { runtime } = collection;
    const wanted = { root: joinHere(cache, 'wheels'), ...collection, pip: (await payload()).pip, python };
    const from = collection.own
      ? await this.fetchOwn(wanted, progress)
      : await ensureWheels(wanted, progress);
    return new Relay({
      profile,
      from,
      target: { to: join(givenWorkdir(profile), 'wheels', runtime), temporary: true },
      onlyOne: profile.hosts?.length === 1,
      logger,
    });
  }
}
