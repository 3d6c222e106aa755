// The table of commands. What goes wrong in one is shown, with what to do about it.
import * as vscode from 'vscode';
import { commandIds, type CommandArguments, type CommandId } from '../../contributions.js';
import { isCancelled } from '../../core/base/errors.js';
import type * as Lazy from '../lazy.js';
import { loadLazy } from '../loadLazy.js';
import { errorWords } from '../remedies.js';
import { showError } from './remedy.js';
import type { Ui } from './ui.js';

type Table = { [K in CommandId]: (...args: CommandArguments[K]) => Promise<void> };

function tableOf(ui: Ui): Table {
  const cluster = async (): Promise<typeof Lazy.cluster> => (await loadLazy()).cluster;
  const logs = async (): Promise<typeof Lazy.logs> => (await loadLazy()).logs;
  const profiles = async (): Promise<typeof Lazy.profiles> => (await loadLazy()).profiles;
  const runs = async (): Promise<typeof Lazy.runs> => (await loadLazy()).runs;
  const starting = async (): Promise<typeof Lazy.starting> => (await loadLazy()).starting;
  return {
    'trainyard.addProfile': async () => (await profiles()).addProfile(ui),
    'trainyard.editProfile': async (profile) => (await profiles()).editProfile(ui, profile),
    'trainyard.duplicateProfile': async (profile) => (await profiles()).duplicateProfile(ui, profile),
    'trainyard.removeProfile': async (profile) => (await profiles()).removeProfile(ui, profile),
    'trainyard.importProfile': async () => (await profiles()).importProfile(ui),
    'trainyard.openProfiles': async (place) => (await profiles()).openProfiles(ui, place),
    'trainyard.connect': async (profile) => (await profiles()).connect(ui, profile),
    'trainyard.disconnect': async (profile) => (await profiles()).disconnect(ui, profile),
    'trainyard.checkProfile': async (profile) => (await cluster()).checkProfile(ui, profile),
    'trainyard.openNodeTerminal': async (host) => (await cluster()).openNodeTerminal(ui, host),
    'trainyard.runOnAll': async (profile) => (await cluster()).runOnAll(ui, profile),
    'trainyard.copyToAll': async (profile) => (await cluster()).copyToAll(ui, profile),
    'trainyard.openTunnel': async (profile) => (await cluster()).openTunnel(ui, profile),
    'trainyard.closeTunnel': async (tunnel) => (await cluster()).closeTunnel(ui, tunnel),
    'trainyard.refresh': async () => {
      await ui.clusters.refresh();
      await ui.runs.refresh();
      await ui.checkpoints.refresh();
    },
    'trainyard.runTraining': async (given) => (await starting()).runTraining(ui, given),
    'trainyard.runAgain': async () => (await starting()).runAgain(ui),
    'trainyard.runDemo': async () => (await starting()).runDemo(ui),
    'trainyard.attachRun': async () => (await runs()).attachRun(ui),
    'trainyard.stopAfterCheckpoint': async (run) => (await runs()).stopRun(ui, 'checkpoint', run),
    'trainyard.stopNow': async (run) => (await runs()).stopRun(ui, 'now', run),
    'trainyard.openDashboard': async (run) => (await runs()).openDashboard(ui, run),
    'trainyard.openTensorBoard': async (run) => (await runs()).openTensorBoard(ui, run),
    'trainyard.openTensorBoardInBrowser': async (run) => (await runs()).openTensorBoardInBrowser(ui, run),
    'trainyard.openLogs': async (run) => (await logs()).openLogs(ui, run),
    'trainyard.openTerminal': async (run) => (await runs()).openTerminal(ui, run),
    'trainyard.revealRunFolder': async (run) => (await runs()).revealRunFolder(ui, run),
    'trainyard.copyRunFolder': async (run) => (await runs()).copyRunFolder(ui, run),
    'trainyard.cloneRun': async (run) => (await starting()).cloneRun(ui, run),
    'trainyard.deleteRun': async (run) => (await runs()).deleteRun(ui, run),
    'trainyard.selectRun': async (run) => (await runs()).selectRun(ui, run),
    'trainyard.verifyCheckpoints': async (run) => (await runs()).verifyCheckpoints(ui, run),
    'trainyard.copyCheckpointPath': async (checkpoint) => (await runs()).copyCheckpointPath(ui, checkpoint),
    'trainyard.showOutput': () => {
      ui.showOutput();
      return Promise.resolve();
    },
  };
}

export function registerCommands(ui: Ui): vscode.Disposable {
  const table = tableOf(ui);
  const register = (id: CommandId): vscode.Disposable =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        const handler = table[id] as (...given: unknown[]) => Promise<void>;
        await handler(...args);
      } catch (error) {
        if (isCancelled(error)) return;
        ui.services.logger.log('error', `${id}: ${errorWords(error)}`);
        void showError(ui, error);
      }
    });
  return vscode.Disposable.from(...commandIds.map(register));
}
