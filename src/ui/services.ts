// What commands and trees are given: the core's backend, loaded when first needed, and the editor's settings.
import * as vscode from 'vscode';
import { settingDefaults, type Settings } from '../contributions.js';
import { HostSampler } from '../core/gpus/sampler.js';
import type { Logger } from '../core/log.js';
import type { Backend } from './backend.js';

export class Services implements vscode.Disposable {
  readonly sampler = new HostSampler(async () => (await this.backend()).sample());
  private loading: Promise<Backend> | undefined;
  private disposed = false;

  constructor(
    private readonly bundleDir: string,
    readonly logger: Logger,
  ) {}

  setting<K extends keyof Settings>(name: K): Settings[K] {
    return vscode.workspace.getConfiguration().get<Settings[K]>(name) ?? settingDefaults[name];
  }

  backend(): Promise<Backend> {
    this.loading ??= this.load();
    return this.loading;
  }

  dispose(): void {
    this.disposed = true;
    this.sampler.dispose();
    void this.loading?.then((backend) => {
      backend.dispose();
    });
  }

  private async load(): Promise<Backend> {
    const { Backend } = await import('./backend.js');
    const home = (): string | undefined => this.setting('trainyard.home') || undefined;
    const backend = new Backend(this.bundleDir, this.logger, home);
    if (this.disposed) backend.dispose();
    return backend;
  }
}
