// What every verb is given.
import type { AgentNode } from '../core/agent/agentNode.js';
import type { RunsKnown } from '../core/agent/runRegistry.js';
import type { Machine } from '../core/cluster/nodes/machine.js';
import { LocalMachine } from '../core/cluster/localMachine.js';
import { makeMachine } from '../core/cluster/machines.js';
import { DisposableStore, sharedAbort, type Disposable } from '../core/base/lifecycle.js';
import type { Logger } from '../core/base/log.js';
import type { RunEntry } from '../core/contracts/agentApi.js';
import type { Profile } from '../core/contracts/profileSchema.js';
import type { Prompter } from '../core/ssh/base/transport.js';
import { cacheFolder } from '../core/setup/runtime.js';
import { bookedProfile, noteRun, RunBook } from '../core/profiles/runBook.js';
import { ProfileStore, trainyardHome } from '../core/profiles/store.js';
import { ProgressLine, type Output } from './output.js';
import type { Args, Grammar } from './args.js';
import { QuietHost } from './mcp/quietHost.js';
import { terminalPrompter } from './prompter.js';
import { errorWords } from './remedies.js';
import { endingSignals } from './signals.js';

export interface Verb extends Grammar {
  summary: string;
  /** More for `--help`, a paragraph a string. */
  details?: readonly string[];
  /** Returns the exit code. */
  run(context: Context, args: Args): Promise<number>;
}

/** A run, and the node that knows it. */
export interface NamedRun {
  profile: string;
  entry: RunEntry;
  node: AgentNode;
}

export class Context implements Disposable {
  readonly profiles: ProfileStore;
  readonly book: RunBook;
  private chosen: Machine | undefined;
  private chosenProfile: Profile | undefined;
  private here: LocalMachine | undefined;
  private readonly others = new Map<string, Machine>();
  private readonly store = new DisposableStore();

  constructor(
    readonly output: Output,
    readonly json: boolean,
    readonly cwd: string,
    private readonly bundleDir: string,
    private readonly env: NodeJS.ProcessEnv,
    readonly logger: Logger,
  ) {
    this.profiles = new ProfileStore(trainyardHome(env));
    this.book = new RunBook(trainyardHome(env));
  }

  /** Of the profile that the command is about: `profile` or `resolveRun` chose it. */
  get machine(): Machine {
    if (!this.chosen) throw new TypeError('no profile was chosen yet');
    return this.chosen;
  }

  /** The profile that `machine` stands for. */
  get currentProfile(): Profile {
    if (!this.chosenProfile) throw new TypeError('no profile was chosen yet');
    return this.chosenProfile;
  }

  /** The trainer of this machine, for what it says of itself: no profile is needed. */
  get trainerHere(): LocalMachine {
    const { bundleDir, env, logger } = this;
    return (this.here ??= this.store.add(new LocalMachine({ bundleDir, env, logger })));
  }

  /** Where what can be made again is kept. */
  get cache(): string {
    return cacheFolder(this.env);
  }

  get node(): AgentNode {
    return this.machine.node;
  }

  /**
   * The profile of that name, with `machine` standing for it from here on. UserError (usage) for an
   * unknown one.
   */
  async profile(name = 'local', { trustAll = false } = {}): Promise<Profile> {
    const profile = await this.profiles.get(name);
    this.chosen ??= this.makeMachine(profile, trustAll);
    this.chosenProfile ??= profile;
    return profile;
  }

  /** `machine` stands for a profile that is not saved: no command can name it. */
  unsavedProfile(profile: Profile): Machine {
    this.chosen = this.store.add(this.machineFor(profile, terminalPrompter(this.output, undefined)));
    this.chosenProfile = profile;
    return this.chosen;
  }

  private makeMachine(profile: Profile, trustAll = false): Machine {
    return this.store.add(this.machineFor(profile, terminalPrompter(this.output, profile.name, trustAll)));
  }

  private machineFor(profile: Profile, prompter: Prompter): Machine {
    const { bundleDir, env, logger } = this;
    return makeMachine(profile, { bundleDir, env, logger, home: trainyardHome(env), prompter });
  }

  /** For tools of assistants: many profiles, and no questions. The caller disposes it. */
  quietHost(): QuietHost {
    const note: QuietHost['note'] = (id, profile, name) => this.note(id, profile, name);
    return new QuietHost(this.profiles, this.book, note, this.cwd, (profile, prompter) =>
      this.machineFor(profile, prompter),
    );
  }

  /** That a run was started. Never rejects: the run goes on also where it cannot be noted. */
  note(id: string, profile: string, name?: string): Promise<void> {
    const write = (): Promise<void> => this.book.add(id, profile, name);
    const say = (text: string): void => {
      this.output.note(`trainyard: note: ${text}`);
    };
    return noteRun(id, write, say, errorWords);
  }

  /**
   * The run that RUN names: of `--profile`, else of the profile on which this machine started it,
   * else of `local`.
   */
  async resolveRun(args: Args): Promise<RunEntry> {
    const text = args.words[0] ?? '';
    const profile = await this.profile(await this.profileOfRun(text, args));
    const registry = await this.machine.registry(profile);
    return registry.resolve(text, this.cwd, await this.runsKnown(profile.name));
  }

  /** The profile of the run that RUN names, as in `resolveRun`; no machine stands for it yet. */
  async profileOfNamed(args: Args): Promise<Profile> {
    return this.profiles.get((await this.profileOfRun(args.words[0] ?? '', args)) ?? 'local');
  }

  /** A further machine, of a profile beside the one that the command is about. */
  beside(profile: Profile): Machine {
    return this.makeMachine(profile);
  }

  /** Every run that a word names, each of its own profile as in `resolveRun`. */
  async resolveRuns(args: Args): Promise<NamedRun[]> {
    const runs: NamedRun[] = [];
    for (const text of args.words) {
      const profile = await this.profiles.get((await this.profileOfRun(text, args)) ?? 'local');
      const machine = this.others.get(profile.name) ?? this.makeMachine(profile);
      this.others.set(profile.name, machine);
      const known = await this.runsKnown(profile.name);
      const entry = await (await machine.registry(profile)).resolve(text, this.cwd, known);
      runs.push({ profile: profile.name, entry, node: machine.node });
    }
    return runs;
  }

  /** The runs that this machine started on profiles that there still are. */
  async runsKnown(profile: string): Promise<RunsKnown> {
    const profiles = new Set((await this.profiles.list()).map(({ name }) => name));
    return { profile, runs: (await this.book.runs()).filter((run) => profiles.has(run.profile)) };
  }

  /** Undefined where nothing tells: then it is `local`. UserError (usage). */
  private async profileOfRun(text: string, args: Args): Promise<string | undefined> {
    return args.value('profile') ?? bookedProfile(this.book, text, await this.profiles.contents());
  }

  /** Shows progress while `work` goes on; Ctrl-C gives it up. */
  async withProgress<T>(
    work: (progress: { onProgress: (text: string) => void; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const line = new ProgressLine();
    const abort = sharedAbort();
    const giveUp = (): void => {
      abort.abort();
    };
    for (const signal of endingSignals) process.once(signal, giveUp);
    try {
      const onProgress = (text: string): void => {
        line.show(text);
      };
      return await work({ onProgress, signal: abort.signal });
    } finally {
      line.clear();
      for (const signal of endingSignals) process.off(signal, giveUp);
    }
  }

  dispose(): void {
    this.store.dispose();
  }
}
