// What commands and views are given: the core's backend, loaded when first needed, and the editor's
// settings and memory.
import * as vscode from 'vscode';
import { settingDefaults, type Settings } from '../contributions.js';
import { Emitter, type Disposable } from '../core/base/lifecycle.js';
import type { Logger } from '../core/base/log.js';
import type { Backend } from './backend.js';
import { LastRuns } from './lastRuns.js';

export class Services implements vscode.Disposable {
  private readonly loads = new Emitter<Backend>();
  private loading: Promise<Backend> | undefined;
  private loaded: Backend | undefined;
  private disposed = false;
  readonly lastRuns: LastRuns;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly logger: Logger,
    private readonly loadCore: () => Promise<{ Backend: typeof Backend }>,
  ) {
    this.lastRuns = new LastRuns(context.globalState, (use) => this.onBackend(use));
  }

  setting<K extends keyof Settings>(name: K): Settings[K] {
    return vscode.workspace.getConfiguration().get<Settings[K]>(name) ?? settingDefaults[name];
  }

  backend(): Promise<Backend> {
    this.loading ??= this.load();
    return this.loading;
  }

  /** Calls back when the backend is there; what only shows it must not load it. */
  onBackend(use: (backend: Backend) => void): Disposable {
    if (this.loaded) use(this.loaded);
    return this.loads.event(use);
  }

  dispose(): void {
    this.disposed = true;
    this.loads.dispose();
    this.lastRuns.dispose();
    this.loaded?.dispose();
  }

  private async load(): Promise<Backend> {
    const { Backend } = await this.loadCore();
    const backend = new Backend({
      bundleDir: this.context.asAbsolutePath('dist'),
      logger: this.logger,
      home: () => this.setting('trainyard.home') || undefined,
      tensorboardPort: () => this.setting('trainyard.tensorboardPort'),
      interval: () => this.setting('trainyard.refreshInterval') * 1000,
    });
    this.loaded = backend;
    if (this.disposed) backend.dispose();
    else this.loads.fire(backend);
    return backend;
  }
}
