// The tunnels of one cluster: which there are, how they fare, and how they come back when the
// cluster is connected again.
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import type { SshMachine } from '../cluster/sshMachine.js';
import { loopback } from './loopback.js';
import { PortForward } from './portForward.js';
import { tunnelText, type TunnelSpec } from './tunnelSpec.js';

/** A tunnel that is open. `Tunnels` owns its port. */
export interface Tunnel {
  spec: TunnelSpec;
  forward: PortForward;
  /** The newest run whose node it leads to: a node of Slurm's is reached by its job. */
  run?: NodePath;
}

/** Owned by whoever shows it; closed with its cluster. */
export class Tunnels implements Disposable {
  private readonly list: Tunnel[] = [];
  private readonly changes = new Emitter<undefined>();

  readonly onChange: Event<undefined> = this.changes.event;

  constructor(
    private readonly machine: SshMachine,
    private readonly logger: Logger,
  ) {}

  get all(): readonly Tunnel[] {
    return this.list;
  }

  /**
   * Connects first, so that a host that cannot be reached is said at once. UserError, Cancelled.
   */
  async open(spec: TunnelSpec, signal?: AbortSignal): Promise<Tunnel> {
    const known = this.known(spec);
    if (known) return known;
    const [node] = this.machine.select(spec.host === undefined ? undefined : [spec.host]);
    if (!node) throw new TypeError('a cluster has nodes');
    await node.connection(signal);
    const forward = await PortForward.open({
      port: spec.local,
      connect: () => node.connectTo({ host: spec.address, port: spec.remote }),
      remote:
        spec.address === '127.0.0.1'
          ? `${node.name}:${spec.remote}`
          : `${spec.address}:${spec.remote} by ${node.name}`,
      logger: this.logger,
    });
    return this.add({ spec, forward });
  }

  /** To a port of 127.0.0.1 on `host`, a node of the run in `run`. UserError (preflight). */
  async openToRun(run: NodePath, host: string, port: number): Promise<Tunnel> {
    const spec = { host, local: port, address: loopback, remote: port };
    const known = this.known(spec);
    if (known) return Object.assign(known, { run });
    const forward = await PortForward.open({
      port,
      connect: () => this.machine.connectPort(this.known(spec)?.run ?? run, host, port),
      remote: `${host}:${port}`,
      logger: this.logger,
    });
    return this.add({ spec, forward, run });
  }

  close(tunnel: Tunnel): void {
    const at = this.list.indexOf(tunnel);
    if (at < 0) return;
    this.list.splice(at, 1);
    tunnel.forward.dispose();
    this.changes.fire(undefined);
  }

  private known(spec: TunnelSpec): Tunnel | undefined {
    return this.list.find((tunnel) => tunnelText(tunnel.spec) === tunnelText(spec));
  }

  private add(tunnel: Tunnel): Tunnel {
    this.list.push(tunnel);
    this.changes.fire(undefined);
    return tunnel;
  }

  dispose(): void {
    for (const { forward } of this.list.splice(0)) forward.dispose();
    this.changes.dispose();
  }
}
