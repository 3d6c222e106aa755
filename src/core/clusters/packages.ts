// The runtime's packages on nodes that cannot fetch them: once from this machine, then from node to node.
import { join as joinHere } from 'node:path';
import { join } from 'node:path/posix';
import type { Disposable } from '../lifecycle.js';
import type { Logger } from '../log.js';
import type { Progress } from '../machine.js';
import type { Payload } from '../nodes/payload.js';
import { ensureWheels } from '../nodes/wheels.js';
import type { Profile } from '../profiles/schema.js';
import { givenWorkdir } from '../runs/registry.js';
import { Relay } from './relay.js';
import type { SshNode } from './sshNode.js';

export interface PackagesOptions {
  profile: Profile;
  /** This machine's folder for what was fetched. */
  cache: string;
  logger: Logger;
}

/** What it brought stands on the nodes until `dispose`. */
export class Packages implements Disposable {
  /** One for each version of Python, whose packages differ. */
  private readonly relays = new Map<string, Promise<Relay>>();

  constructor(private readonly options: PackagesOptions) {}

  /** Returns their folder on the node. UserError (preflight, connection), Cancelled. */
  async bring(
    node: SshNode,
    python: readonly number[],
    payload: Payload,
    progress: Progress,
  ): Promise<string> {
    const version = python.slice(0, 2).join('.');
    const relay = this.relays.get(version) ?? this.open(python, payload, progress);
    this.relays.set(version, relay);
    const opened = await relay;
    progress.onProgress?.('waiting for the packages');
    const { folder } = await opened.deliver(node, progress);
    return folder;
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

  private async open(
    python: readonly number[],
    { runtime, requirements, pip }: Payload,
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
