// The tunnels of one cluster: which there are, how they fare, and how they come back when the
// cluster is connected again.
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { SshMachine } from '../cluster/sshMachine.js';
import { PortForward } from './portForward.js';
import { tunnelText, type TunnelSpec } from './tunnelSpec.js';

/** A tunnel that is open. `Tunnels` owns its port. */
export interface Tunnel {
  spec: TunnelSpec;
  forward: PortForward;
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
    const known = this.list.find((tunnel) => tunnelText(tunnel.spec) === tunnelText(spec));
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
    const tunnel = { spec, forward };
    this.list.push(tunnel);
    this.changes.fire(undefined);
    return tunnel;
  }

  close(tunnel: Tunnel): void {
    const at = this.list.indexOf(tunnel);
    if (at < 0) return;
    this.list.splice(at, 1);
    tunnel.forward.dispose();
    this.changes.fire(undefined);
  }

  dispose(): void {
    for (const { forward } of this.list.splice(0)) forward.dispose();
    this.changes.dispose();
  }
}
