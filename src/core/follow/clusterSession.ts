// One profile's cluster as somebody looks at it: connected or not, and the machine behind it.
import { isDeepStrictEqual } from 'node:util';
import type { CheckResult } from '../base/checks.js';
import { Cancelled, isCancelled, UserError } from '../base/errors.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import type { CheckOptions, Machine } from '../cluster/nodes/machine.js';
import type { Profile } from '../contracts/profileSchema.js';
import { Tunnels } from '../tunnels/tunnels.js';
import { SshMachine } from '../cluster/sshMachine.js';

/**
 * Whether a profile's machine is connected. `cores` is the number of the head's CPU cores, and
 * `host` is its name.
 */
export type SessionState =
  | { kind: 'disconnected' }
  | { kind: 'connecting' }
  | { kind: 'connected'; cores: number; host: string }
  | { kind: 'failed'; error: unknown };

/**
 * What the machine of a profile keeps for as long as it is connected. By way of JSON, since a field
 * may be left out or undefined.
 */
function wayOf({ kind, hosts, head, transport, launcher, workdir, slurm = {} }: Profile): unknown {
  return kind === 'local'
    ? ''
    : JSON.parse(
        JSON.stringify({
          hosts,
          head,
          transport,
          launcher,
          workdir,
          tensorboard: slurm.tensorboard,
          cuda: slurm.cuda,
        }),
      );
}

/** The order of fields does not count: the profile file has its own. */
const isSameWay = (one: Profile, other: Profile): boolean => isDeepStrictEqual(wayOf(one), wayOf(other));

/** One profile, and its machine while it is connected. Owns the machine and its tunnels. */
export class ClusterSession implements Disposable {
  private readonly states = new Emitter<SessionState>();
  private readonly ends = new Emitter<Machine>();
  private current: SessionState = { kind: 'disconnected' };
  private opened: Machine | undefined;
  /** The profile as it was when the machine was made. */
  private openedBy: Profile | undefined;
  /** Whether somebody has disconnected it. */
  private left = false;
  private tunnelsNow: Tunnels | undefined;
  private opening: Promise<Machine> | undefined;
  /** The machine that is being connected. */
  private underway: Machine | undefined;

  readonly onState: Event<SessionState> = this.states.event;
  /** A machine that was connected is disposed: what leads to it leads nowhere from now on. */
  readonly onEnd: Event<Machine> = this.ends.event;

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

  /**
   * Whether what is connected was made by another profile in what a connection is made of. The rest
   * of a profile, such as `portRange`, goes with each run.
   */
  get isOutdated(): boolean {
    const { openedBy, profileNow } = this;
    return this.opened !== undefined && openedBy !== undefined && !isSameWay(openedBy, profileNow);
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
    if (this.opening) return this.opening;
    return this.opens(async (machine) => {
      if (machine instanceof SshMachine) await machine.connectHead();
    });
  }

  /**
   * The machine for what goes on by itself, such as a tab that shows a run. It does not connect
   * again what somebody has disconnected: that is a UserError (connection), until somebody connects
   * it.
   */
  machineUnlessLeft(): Promise<Machine> {
    if (!this.left) return this.machine();
    const what = `profile ${this.profileNow.name} was disconnected`;
    return Promise.reject(new UserError('connection', what, 'Connect it again'));
  }

  /** Whether somebody has disconnected it, and nobody connected it since. */
  get isLeft(): boolean {
    return this.left;
  }

  /**
   * Everything that a run needs, looked at on every node. Connects where that is not done yet, and
   * stays connected where the head was reached; else the state says why not. UserError (preflight)
   * where there is no such machine, Cancelled.
   */
  async check(progress: Progress = {}, options: CheckOptions = {}): Promise<CheckResult[]> {
    const known = this.opened ?? (await this.opening?.catch(() => undefined));
    if (known) return known.check(this.profileNow, progress, options);
    let results: CheckResult[] | undefined;
    const looking = this.opens(async (machine) => {
      results = await machine.check(this.profileNow, progress, options);
    });
    try {
      await looking;
    } catch (error) {
      if (results === undefined || isCancelled(error)) throw error;
    }
    return results ?? [];
  }

  /** Ends the connection; runs go on. */
  disconnect(): void {
    this.left = true;
    this.close();
    this.become({ kind: 'disconnected' });
  }

  dispose(): void {
    this.close();
    this.states.dispose();
    this.ends.dispose();
  }

  private opens(reach: (machine: Machine) => Promise<void>): Promise<Machine> {
    const opening = this.open(reach).finally(() => {
      if (this.opening === opening) this.opening = undefined;
    });
    this.opening = opening;
    return opening;
  }

  /** `reach`: what is done before the head is greeted. */
  private async open(reach: (machine: Machine) => Promise<void>): Promise<Machine> {
    this.left = false;
    this.become({ kind: 'connecting' });
    let machine: Machine;
    try {
      this.openedBy = this.profileNow;
      machine = this.makeMachine(this.profileNow);
    } catch (error) {
      return this.fail(error);
    }
    this.underway = machine;
    try {
      await reach(machine);
      const { cores, host } = await machine.node.hello();
      this.assertWanted(machine);
      this.underway = undefined;
      this.opened = machine;
      if (machine instanceof SshMachine) this.tunnelsNow = new Tunnels(machine, this.logger);
      this.become({ kind: 'connected', cores, host });
      return machine;
    } catch (error) {
      this.assertWanted(machine);
      this.underway = undefined;
      machine.dispose();
      return this.fail(error);
    }
  }

  /**
   * Cancelled when the session was closed while this machine was being connected, which ended it.
   */
  private assertWanted(machine: Machine): void {
    if (this.underway !== machine) throw new Cancelled('the cluster was disconnected');
  }

  private close(): void {
    this.tunnelsNow?.dispose();
    this.tunnelsNow = undefined;
    const ended = this.opened;
    ended?.dispose();
    this.opened = undefined;
    this.underway?.dispose();
    this.underway = undefined;
    this.opening = undefined;
    if (ended) this.ends.fire(ended);
  }

  private fail(error: unknown): never {
    this.become(isCancelled(error) ? { kind: 'disconnected' } : { kind: 'failed', error });
    throw error;
  }

  private become(state: SessionState): void {
    this.current = state;
    this.states.fire(state);
  }
}
