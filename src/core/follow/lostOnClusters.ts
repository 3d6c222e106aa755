// The lost nodes of all runs that an editor sees: by each look of its monitor, and of its feeds.
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Clusters } from './clusters.js';
import { LostNodes } from './lostNodes.js';
import type { ProfileRuns, RunsMonitor } from './runsMonitor.js';

/** Lets lost nodes join again on clusters that are connected; it connects none. */
export class LostOnClusters implements Disposable {
  private readonly lost: LostNodes;
  private readonly looks: Disposable;

  constructor(
    private readonly clusters: Clusters,
    monitor: RunsMonitor,
    logger: Logger,
  ) {
    this.lost = new LostNodes({
      joinAgain: async (name, run, host, signal) => {
        const { connected, profile } = clusters.find(name) ?? {};
        if (connected && profile) await connected.joinAgain?.(profile, run, host, { signal });
      },
      logger,
    });
    this.looks = monitor.onChange((all) => {
      for (const each of all) this.looked(each);
    });
  }

  /** A run of this profile as it was found just now. */
  saw(profile: string, run: RunEntry): void {
    this.lost.saw(profile, run);
  }

  dispose(): void {
    this.looks.dispose();
    this.lost.dispose();
  }

  /** Of what is not connected, or failed to be read, the runs are those of an earlier look. */
  private looked({ profile, runs, problem }: ProfileRuns): void {
    if (problem !== undefined || !this.clusters.find(profile)?.connected) return;
    for (const { entry } of runs) this.saw(profile, entry);
  }
}
