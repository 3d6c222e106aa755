// What every verb is given.
import type { AgentNode } from '../core/nodes/node.js';
import { LocalMachine } from '../core/machine.js';
import { UserError } from '../core/errors.js';
import { DisposableStore, type Disposable } from '../core/lifecycle.js';
import type { Logger } from '../core/log.js';
import type { RunEntry } from '../core/nodes/agentApi.js';
import type { Profile } from '../core/profiles/schema.js';
import { ProfileStore, trainyardHome } from '../core/profiles/store.js';
import { ProgressLine, type Output } from './output.js';
import type { Args, Grammar } from './args.js';

export interface Verb extends Grammar {
  summary: string;
  /** More for `--help`, a paragraph a string. */
  details?: readonly string[];
  /** Returns the exit code. */
  run(context: Context, args: Args): Promise<number>;
}

export class Context implements Disposable {
  readonly profiles: ProfileStore;
  readonly machine: LocalMachine;
  private readonly store = new DisposableStore();

  constructor(
    readonly output: Output,
    readonly json: boolean,
    readonly cwd: string,
    bundleDir: string,
    env: NodeJS.ProcessEnv,
    readonly logger: Logger,
  ) {
    this.profiles = new ProfileStore(trainyardHome(env));
    this.machine = this.store.add(new LocalMachine({ bundleDir, env, logger }));
  }

  get node(): AgentNode {
    return this.machine.node;
  }

  /** The profile, when this version can run on it. UserError: usage for an unknown one, preflight for its kind. */
  async localProfile(name = 'local'): Promise<Profile> {
    const profile = await this.profiles.get(name);
    if (profile.kind === 'local') return profile;
    const what = `profile ${name} is of kind ${profile.kind}, and this version runs on this machine only`;
    throw new UserError('preflight', what, 'Use the profile local');
  }

  /** The run that RUN names, among those of `--profile` or `local`. */
  async resolveRun(args: Args): Promise<RunEntry> {
    const registry = await this.machine.registry(await this.localProfile(args.value('profile')));
    return registry.resolve(args.words[0] ?? '', this.cwd);
  }

  /** Shows progress while `work` goes on; Ctrl-C gives it up. */
  async withProgress<T>(
    work: (progress: { onProgress: (text: string) => void; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const line = new ProgressLine();
    const abort = new AbortController();
    const giveUp = (): void => {
      abort.abort();
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.once(signal, giveUp);
    try {
      const onProgress = (text: string): void => {
        line.show(text);
      };
      return await work({ onProgress, signal: abort.signal });
    } finally {
      line.clear();
      for (const signal of signals) process.off(signal, giveUp);
    }
  }

  dispose(): void {
    this.store.dispose();
  }
}
