// One profile's cluster as somebody looks at it: connected or not, and the machine behind it.
import { errorText } from '../errors.js';
import { Emitter, type Disposable, type Event } from '../lifecycle.js';
import { nullLogger, type Logger } from '../log.js';
import type { Machine } from '../machine.js';
import type { Profile } from '../profiles/schema.js';
import { Tunnels } from '../tunnels/tunnels.js';
import { SshMachine } from './sshMachine.js';

export type SessionState =
  | { kind: 'disconnected' }
  | { kind: 'connecting' }
  | { kind: 'connected'; cores: number; host: string }
  | { kind: 'failed'; message: string };

export class ClusterSession implements Disposable {
  private readonly states = new Emitter<SessionState>();
  private current: SessionState = { kind: 'disconnected' };
  private opened: Machine | undefined;
  private tunnelsNow: Tunnels | undefined;
  private opening: Promise<Machine> | undefined;

  readonly onState: Event<SessionState> = this.states.event;

  constructor(
    private profileNow: Profile,
    private readonly makeMachine: (profile: Profile) => Machine,
    private readonly logger: Logger = nullLogger,
  ) {}

  get profile(): Profile {
    return this.profileNow;
  }

  /** The profile was edited; what is connected stays so. */
  set profile(profile: Profile) {
    this.profileNow = profile;
  }

  get state(): SessionState {
    return this.current;
  }

  /** Those of a cluster that is connected; they end with the connection. */
  get tunnels(): Tunnels | undefined {
    return this.tunnelsNow;
  }

  /** The machine, if it is connected now. */
  get connected(): Machine | undefined {
    return this.opened;
  }

  /** The machine, connected when it is not yet. UserError (connection, preflight). */
  machine(): Promise<Machine> {
    if (this.opened) return Promise.resolve(this.opened);
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** Ends the connection; runs go on. */
  disconnect(): void {
    this.close();
    this.become({ kind: 'disconnected' });
  }

  dispose(): void {
    this.close();
    this.states.dispose();
  }

  private async open(): Promise<Machine> {
    this.become({ kind: 'connecting' });
    let machine: Machine;
    try {
      machine = this.makeMachine(this.profileNow);
    } catch (error) {
      return this.fail(error);
    }
    try {
      if (machine instanceof SshMachine) await machine.connectHead();
      const { cores, host } = await machine.node.hello();
      this.opened = machine;
      if (machine instanceof SshMachine) this.tunnelsNow = new Tunnels(machine, this.logger);
      this.become({ kind: 'connected', cores, host });
      return machine;
    } catch (error) {
      machine.dispose();
      return this.fail(error);
    }
  }

  private close(): void {
    this.tunnelsNow?.dispose();
    this.tunnelsNow = undefined;
    this.opened?.dispose();
    this.opened = undefined;
  }

  private fail(error: unknown): never {
    this.become({ kind: 'failed', message: errorText(error) });
    throw error;
  }

  private become(state: SessionState): void {
    this.current = state;
    this.states.fire(state);
  }
}
