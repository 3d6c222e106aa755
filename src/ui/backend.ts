// The part of the core that costs time to load, behind one dynamic import (services.ts).
import { LocalMachine, type Progress, type StartedRun } from '../core/machine.js';
import type { Disposable } from '../core/lifecycle.js';
import type { Logger } from '../core/log.js';
import type { HostSample } from '../core/metrics/schema.js';
import { ProfileStore, trainyardHome } from '../core/profiles/store.js';
import { OverviewReader, type RunOverview } from '../core/runs/overview.js';
import type { StopMode } from '../core/runs/schema.js';

/** Runs shown in the tree. */
const shownRuns = 50;

export class Backend implements Disposable {
  private readonly machine: LocalMachine;
  private readonly overviews = new OverviewReader();

  /** `home` is asked each time, because the setting may change; undefined stands for the usual folder. */
  constructor(
    bundleDir: string,
    logger: Logger,
    private readonly home: () => string | undefined,
  ) {
    this.machine = new LocalMachine({ bundleDir, logger });
  }

  /** The path of profiles.json, which is made when it is not there. */
  profilesFile(): Promise<string> {
    return this.profiles().ensureFile();
  }

  /** The newest runs of the local profile. */
  async runs(): Promise<RunOverview[]> {
    const registry = await this.machine.registry(await this.profiles().get('local'));
    const entries = (await registry.list()).slice(0, shownRuns);
    this.overviews.retain(entries);
    const client = await this.machine.node.client();
    const found: RunOverview[] = [];
    for (const entry of entries) found.push(await this.overviews.read(client, entry));
    return found;
  }

  async sample(): Promise<HostSample> {
    return (await this.machine.node.client()).request('host.sample');
  }

  async cores(): Promise<number> {
    return (await this.machine.node.hello()).cores;
  }

  /** Starts `words` (a verb of the trainer with its flags) on the local profile. */
  async start(words: readonly string[], progress: Progress): Promise<StartedRun> {
    const profile = await this.profiles().get('local');
    return this.machine.start({ profile, words, cwd: '/' }, progress);
  }

  stop(dir: string, mode: StopMode): Promise<void> {
    return this.machine.stop(dir, mode);
  }

  dispose(): void {
    this.machine.dispose();
  }

  private profiles(): ProfileStore {
    return new ProfileStore(this.home() ?? trainyardHome());
  }
}
