// The table of commands. What goes wrong in one is shown, with what to do about it.
import * as vscode from 'vscode';
import { commandIds, type CommandArguments, type CommandId } from '../../contributions.js';
import { Cancelled, errorText } from '../../core/errors.js';
import * as profiles from './profiles.js';
import * as runs from './runs.js';
import { cloneRun, runAgain, runDemo, runTraining } from './runTraining.js';
import type { Ui } from './ui.js';

type Table = { [K in CommandId]: (...args: CommandArguments[K]) => Promise<void> };

function tableOf(ui: Ui): Table {
  return {
    'trainyard.addProfile': () => profiles.addProfile(ui),
    'trainyard.editProfile': (profile) => profiles.editProfile(ui, profile),
    'trainyard.duplicateProfile': (profile) => profiles.duplicateProfile(ui, profile),
    'trainyard.removeProfile': (profile) => profiles.removeProfile(ui, profile),
    'trainyard.importProfile': () => profiles.importProfile(ui),
    'trainyard.openProfiles': () => profiles.openProfiles(ui),
    'trainyard.connect': (profile) => profiles.connect(ui, profile),
    'trainyard.disconnect': (profile) => profiles.disconnect(ui, profile),
    'trainyard.refresh': async () => {
      await ui.clusters.refresh();
      await ui.runs.refresh();
      await ui.checkpoints.refresh();
    },
    'trainyard.runTraining': (given) => runTraining(ui, given),
    'trainyard.runAgain': () => runAgain(ui),
    'trainyard.runDemo': () => runDemo(ui),
    'trainyard.attachRun': () => runs.attachRun(ui),
    'trainyard.stopAfterCheckpoint': (run) => runs.stopRun(ui, 'checkpoint', run),
    'trainyard.stopNow': (run) => runs.stopRun(ui, 'now', run),
    'trainyard.openDashboard': (run) => runs.openDashboard(ui, run),
    'trainyard.openTensorBoard': (run) => runs.openTensorBoard(ui, run),
    'trainyard.openTensorBoardInBrowser': (run) => runs.openTensorBoardInBrowser(ui, run),
    'trainyard.openLogs': (run) => runs.openLogs(ui, run),
    'trainyard.openTerminal': (run) => runs.openTerminal(ui, run),
    'trainyard.revealRunFolder': (run) => runs.revealRunFolder(ui, run),
    'trainyard.copyRunFolder': (run) => runs.copyRunFolder(ui, run),
    'trainyard.cloneRun': (run) => cloneRun(ui, run),
    'trainyard.deleteRun': (run) => runs.deleteRun(ui, run),
    'trainyard.selectRun': (run) => runs.selectRun(ui, run),
    'trainyard.verifyCheckpoints': (run) => runs.verifyCheckpoints(ui, run),
    'trainyard.copyCheckpointPath': (checkpoint) => runs.copyCheckpointPath(ui, checkpoint),
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
        if (error instanceof Cancelled) return;
        ui.services.logger.log('error', `${id}: ${errorText(error)}`);
        void showError(ui, errorText(error));
      }
    });
  return vscode.Disposable.from(...commandIds.map(register));
}

async function showError(ui: Ui, message: string): Promise<void> {
  const answer = await vscode.window.showErrorMessage(message, 'Show Output');
  if (answer === 'Show Output') ui.showOutput();
}
