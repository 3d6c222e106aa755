// One profile's cluster as somebody looks at it: connected or not, and the machine behind it.
import { errorText, UserError } from '../errors.js';
import { Emitter, type Disposable, type Event } from '../lifecycle.js';
import type { LocalMachine } from '../machine.js';
import type { Profile } from '../profiles/schema.js';

export type SessionState =
  | { kind: 'disconnected' }
  | { kind: 'connecting' }
  | { kind: 'connected'; cores: number; host: string }
  | { kind: 'failed'; message: string };

export class ClusterSession implements Disposable {
  private readonly states = new Emitter<SessionState>();
  private current: SessionState = { kind: 'disconnected' };
  private opened: LocalMachine | undefined;
  private opening: Promise<LocalMachine> | undefined;

  readonly onState: Event<SessionState> = this.states.event;

  constructor(
    private profileNow: Profile,
    private readonly makeMachine: () => LocalMachine,
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

  /** The machine, connected when it is not yet. UserError (connection, preflight). */
  machine(): Promise<LocalMachine> {
    if (this.opened) return Promise.resolve(this.opened);
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** Ends the connection; runs go on. */
  disconnect(): void {
    this.opened?.dispose();
    this.opened = undefined;
    this.become({ kind: 'disconnected' });
  }

  dispose(): void {
    this.opened?.dispose();
    this.opened = undefined;
    this.states.dispose();
  }

  private async open(): Promise<LocalMachine> {
    this.become({ kind: 'connecting' });
    const { name, kind } = this.profileNow;
    if (kind !== 'local') {
      const what = `profile ${name} is of kind ${kind}, and this version runs on this machine only`;
      return this.fail(new UserError('preflight', what, 'Use a profile of kind local'));
    }
    const machine = this.makeMachine();
    try {
      const { cores, host } = await machine.node.hello();
      this.opened = machine;
      this.become({ kind: 'connected', cores, host });
      return machine;
    } catch (error) {
      machine.dispose();
      return this.fail(error);
    }
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
