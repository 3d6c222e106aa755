// What commands and trees are given: the core, made when first needed, and the editor's side of it.
import * as vscode from 'vscode';
import { settingDefaults, type Settings } from '../contributions.js';
import { HostSampler } from '../core/gpus/sampler.js';
import { DisposableStore } from '../core/lifecycle.js';
import type { Logger } from '../core/log.js';
import { LocalMachine } from '../core/machine.js';
import type { Profile } from '../core/profiles/schema.js';
import { ProfileStore, trainyardHome } from '../core/profiles/store.js';
import { OverviewReader, type RunOverview } from '../core/runs/overview.js';

/** Runs shown in the tree. */
const shownRuns = 50;

export class Services implements vscode.Disposable {
  readonly machine: LocalMachine;
  readonly sampler: HostSampler;
  private readonly store = new DisposableStore();
  private readonly overviews = new OverviewReader();

  constructor(
    bundleDir: string,
    readonly logger: Logger,
  ) {
    this.machine = this.store.add(new LocalMachine({ bundleDir, logger }));
    this.sampler = this.store.add(
      new HostSampler(async () => (await this.machine.node.client()).request('host.sample')),
    );
  }

  setting<K extends keyof Settings>(name: K): Settings[K] {
    return vscode.workspace.getConfiguration().get<Settings[K]>(name) ?? settingDefaults[name];
  }

  get profiles(): ProfileStore {
    const home = this.setting('trainyard.home');
    return new ProfileStore(home === '' ? trainyardHome() : home);
  }

  localProfile(): Promise<Profile> {
    return this.profiles.get('local');
  }

  async runs(): Promise<RunOverview[]> {
    const registry = await this.machine.registry(await this.localProfile());
    const entries = (await registry.list()).slice(0, shownRuns);
    this.overviews.retain(entries);
    const client = await this.machine.node.client();
    const found: RunOverview[] = [];
    for (const entry of entries) found.push(await this.overviews.read(client, entry));
    return found;
  }

  dispose(): void {
    this.store.dispose();
  }
}
