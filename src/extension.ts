// Composition root of the editor's side: builds the core, hands it to the views and commands, owns it all.
import * as vscode from 'vscode';
import type { Logger } from './core/log.js';
import { registerCommands } from './ui/commands/register.js';
import { Services } from './ui/services.js';
import { ClusterTree } from './ui/tree/clusterTree.js';
import { RunTree } from './ui/tree/runTree.js';

export function activate(context: vscode.ExtensionContext): void {
  const channel = vscode.window.createOutputChannel('Trainyard', { log: true });
  const logger: Logger = {
    log: (level, text) => {
      channel[level](text);
    },
  };
  const services = new Services(context.asAbsolutePath('dist'), logger);
  const clusters = new ClusterTree({
    sampler: services.sampler,
    cores: async () => (await services.backend()).cores(),
  });
  const runs = new RunTree(
    async () => (await services.backend()).runs(),
    () => services.setting('trainyard.refreshInterval') * 1000,
  );
  context.subscriptions.push(
    channel,
    services,
    clusters,
    runs,
    registerCommands({ services, runs, clusters }),
  );
}
