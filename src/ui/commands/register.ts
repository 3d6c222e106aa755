// The table of commands. What goes wrong in one is shown, with what to do about it.
import * as vscode from 'vscode';
import { commandIds, type CommandArguments, type CommandId } from '../../contributions.js';
import { Cancelled, errorText } from '../../core/errors.js';
import type { ClusterTree } from '../tree/clusterTree.js';
import type { RunTree } from '../tree/runTree.js';
import type { Services } from '../services.js';
import { openLogs } from './openLogs.js';
import { openProfiles } from './openProfiles.js';
import { runTraining } from './runTraining.js';
import { stopRun } from './stopRun.js';

export interface Commands {
  services: Services;
  runs: RunTree;
  clusters: ClusterTree;
}

type Table = { [K in CommandId]: (...args: CommandArguments[K]) => Promise<void> };

export function registerCommands(ui: Commands): vscode.Disposable {
  const table: Table = {
    'trainyard.refresh': async () => {
      ui.clusters.refresh();
      await ui.runs.refresh();
    },
    'trainyard.runTraining': () => runTraining(ui),
    'trainyard.stopRun': (run) => stopRun(ui, run),
    'trainyard.openLogs': (run) => openLogs(ui, run),
    'trainyard.openProfiles': () => openProfiles(ui.services),
  };
  const register = (id: CommandId): vscode.Disposable =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        const handler = table[id] as (...given: unknown[]) => Promise<void>;
        await handler(...args);
      } catch (error) {
        if (error instanceof Cancelled) return;
        ui.services.logger.log('error', `${id}: ${errorText(error)}`);
        void vscode.window.showErrorMessage(errorText(error));
      }
    });
  return vscode.Disposable.from(...commandIds.map(register));
}
