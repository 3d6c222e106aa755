// Nodes that runs have lost, which join again once they can be reached: a node that rebooted has no
// `agent join` any more, and only a client starts one.
import { errorText, isCancelled, UserError } from '../base/errors.js';
import { sharedAbort, type Disposable } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { RunEntry } from '../contracts/agentApi.js';

/** Milliseconds between two tries of one node. */
const usualPause = 10_000;
/** Where the node is there and may not join, or has been away for `longAway`. */
const longestPause = 60_000;
/** Milliseconds. A run waits for a lost node for 10 minutes, unless its profile says otherwise. */
const longAway = 15 * 60_000;

/**
 * The nodes that the run has lost and may take up again, also while it is queued. None of a run that is over, stops,
 * restarts no more or is supervised elsewhere. Never its head, whose supervisor starts its own part.
 */
export function lostNodesOf({ run, state, interrupted, elsewhere }: RunEntry): string[] {
  if (run?.profile.kind !== 'ssh' || !state?.nodes || interrupted) return [];
  const restarts = run.limits.maxRestarts > 0 && (state.phase === 'starting' || state.phase === 'running');
  if (typeof elsewhere === 'string' || (!restarts && state.phase !== 'queued')) return [];
  return state.nodes
    .slice(1)
    .filter(({ state }) => state === 'lost')
    .map(({ host }) => host);
}

/** How a node of a run joins again, and the clock. */
export interface LostNodesOptions {
  /** As `Machine.joinAgain`, on the machine of that profile. */
  joinAgain: (profile: string, run: RunEntry, host: string, signal: AbortSignal) => Promise<void>;
  logger?: Logger;
  /** Milliseconds since the epoch; this machine's clock where it is left out. */
  now?: () => number;
}

interface Tries {
  profile: string;
  dir: string;
  host: string;
  /** When this client first saw that the node is lost. */
  since: number;
  notBefore: number;
  pause: number;
  underWay: boolean;
  /** What was logged last. */
  said: string;
}

/**
 * Told of every look at a run, it tries to let lost nodes join again: at once, then each 10 s while
 * they cannot be reached, and ever more seldom where they refuse. Without looks it does nothing, so
 * it needs no timer. What keeps a node away is no error of the user's: it is logged, once.
 */
export class LostNodes implements Disposable {
  private readonly tries = new Map<string, Tries>();
  private readonly abort = sharedAbort();
  private readonly logger: Logger;

  constructor(private readonly options: LostNodesOptions) {
    this.logger = options.logger ?? nullLogger;
  }

  /** A run of this profile as it was found just now. */
  saw(profile: string, run: RunEntry): void {
    if (this.abort.signal.aborted) return;
    const lost = lostNodesOf(run);
    for (const [key, known] of this.tries) {
      const isOfRun = known.profile === profile && known.dir === run.dir;
      if (isOfRun && !known.underWay && !lost.includes(known.host)) this.tries.delete(key);
    }
    for (const host of lost) {
      const tries = this.triesOf(profile, run.dir, host);
      if (!tries.underWay && this.now() >= tries.notBefore) void this.try(tries, run);
    }
  }

  /** Gives up what is under way. */
  dispose(): void {
    this.abort.abort();
    this.tries.clear();
  }

  private now(): number {
    return this.options.now?.() ?? Date.now();
  }

  private triesOf(profile: string, dir: string, host: string): Tries {
    const key = JSON.stringify([profile, dir, host]);
    const known = this.tries.get(key);
    if (known) return known;
    const since = this.now();
    const state = { since, notBefore: since, pause: usualPause, underWay: false, said: '' };
    const tries = { profile, dir, host, ...state };
    this.tries.set(key, tries);
    return tries;
  }

  private async try(tries: Tries, run: RunEntry): Promise<void> {
    const { profile, host } = tries;
    tries.underWay = true;
    try {
      await this.options.joinAgain(profile, run, host, this.abort.signal);
      tries.pause = usualPause; // the journal says that it has joined
    } catch (error) {
      this.failed(tries, run, error);
    } finally {
      tries.underWay = false;
      tries.notBefore = this.now() + tries.pause;
    }
  }

  private failed(tries: Tries, { id }: RunEntry, error: unknown): void {
    if (isCancelled(error)) return;
    const isAway = error instanceof UserError && error.code === 'connection';
    const isLong = this.now() - tries.since >= longAway;
    tries.pause = isAway ? (isLong ? longestPause : usualPause) : Math.min(longestPause, tries.pause * 2);
    const text = errorText(error);
    if (text !== tries.said) {
      this.logger.log(isAway ? 'debug' : 'info', `${id}: ${tries.host} does not join again: ${text}`);
    }
    tries.said = text;
  }
}
