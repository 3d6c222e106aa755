// The table of commands. What goes wrong in one is shown, with what to do about it.
// A new command has five places: contributions.ts (its id and arguments), a file of its own beside
// this one, lazy.ts or the commands.ts of its folder (its export), a line here, and package.json
// (its title).
import * as vscode from 'vscode';
import { commandIds, type CommandArguments, type CommandId } from '../../contributions.js';
import { isCancelled } from '../../core/base/errors.js';
import { loadLazy } from '../loadLazy.js';
import { errorWords } from '../remedies.js';
import { showError } from './showError.js';
import type { Ui } from './ui.js';

type Table = { [K in CommandId]: (...args: CommandArguments[K]) => Promise<void> };

const checkpoints = async () => (await loadLazy()).loadCheckpointCommands();
const profiles = async () => (await loadLazy()).loadProfileCommands();

function tableOf(ui: Ui): Table {
  return {
    'trainyard.addCluster': async () => (await loadLazy()).addCluster(ui),
    'trainyard.addProfile': async () => (await profiles()).addProfile(ui),
    'trainyard.editProfile': async (profile) => (await profiles()).editProfile(ui, profile),
    'trainyard.chooseKey': async (host) => (await profiles()).chooseKey(ui, host),
    'trainyard.setPrice': async (profile) => (await profiles()).setPrice(ui, profile),
    'trainyard.duplicateProfile': async (profile) => (await profiles()).duplicateProfile(ui, profile),
    'trainyard.removeProfile': async (profile) => (await profiles()).removeProfile(ui, profile),
    'trainyard.importProfile': async () => (await profiles()).importProfile(ui),
    'trainyard.exportProfile': async (profile) => (await profiles()).exportProfile(ui, profile),
    'trainyard.openProfiles': async (place) => (await profiles()).openProfiles(ui, place),
    'trainyard.connect': async (profile) => (await loadLazy()).connect(ui, profile),
    'trainyard.disconnect': async (profile) => (await loadLazy()).disconnect(ui, profile),
    'trainyard.checkProfile': async (profile) => (await loadLazy()).checkProfile(ui, profile),
    'trainyard.openNodeTerminal': async (host) => (await loadLazy()).openNodeTerminal(ui, host),
    'trainyard.copyNodeName': async (host) => (await loadLazy()).copyNodeName(ui, host),
    'trainyard.runOnAll': async (profile) => (await loadLazy()).runOnAll(ui, profile),
    'trainyard.copyToAll': async (profile) => (await loadLazy()).copyToAll(ui, profile),
    'trainyard.copyToNode': async (given) => (await loadLazy()).copyToNode(ui, given),
    'trainyard.openTunnel': async (profile) => (await loadLazy()).openTunnel(ui, profile),
    'trainyard.closeTunnel': async (tunnel) => (await loadLazy()).closeTunnel(ui, tunnel),
    'trainyard.measureScaling': async (given) => (await loadLazy()).measureScaling(ui, given),
    'trainyard.findBestSettings': async (given) => (await loadLazy()).findBestSettings(ui, given),
    'trainyard.refresh': async () => {
      await ui.clusters.refresh();
      await ui.runs.refresh();
      await ui.checkpoints.refresh();
    },
    'trainyard.newRun': async (from) => (await loadLazy()).newRun(ui, from),
    'trainyard.runTraining': async (given) => (await loadLazy()).runTraining(ui, given),
    'trainyard.runOnCluster': async (file) => (await loadLazy()).runOnCluster(ui, file),
    'trainyard.trainOnFolder': async (folder) => (await loadLazy()).trainOnFolder(ui, folder),
    'trainyard.runAgain': async (how) => (await loadLazy()).runAgain(ui, how),
    'trainyard.runDemo': async (profile) => (await loadLazy()).runDemo(ui, profile),
    'trainyard.attachRun': async () => (await loadLazy()).attachRun(ui),
    'trainyard.stopAfterCheckpoint': async (run) => (await loadLazy()).stopRun(ui, 'checkpoint', run),
    'trainyard.stopNow': async (run) => (await loadLazy()).stopRun(ui, 'now', run),
    'trainyard.openDashboard': async (run) => (await loadLazy()).openDashboard(ui, run),
    'trainyard.openTensorBoard': async (run) => (await loadLazy()).openTensorBoard(ui, run),
    'trainyard.openTensorBoardInBrowser': async (run) => (await loadLazy()).openTensorBoardInBrowser(ui, run),
    'trainyard.openLogs': async (run) => (await loadLazy()).openLogs(ui, run),
    'trainyard.openTerminal': async (run) => (await loadLazy()).openTerminal(ui, run),
    'trainyard.showBatchScript': async (run) => (await loadLazy()).showBatchScript(ui, run),
    'trainyard.revealRunFolder': async (run) => (await loadLazy()).revealRunFolder(ui, run),
    'trainyard.copyRunFolder': async (run) => (await loadLazy()).copyRunFolder(ui, run),
    'trainyard.cloneRun': async (run) => (await loadLazy()).cloneRun(ui, run),
    'trainyard.resumeRun': async (run) => (await loadLazy()).resumeRun(ui, run),
    'trainyard.describeRun': async (run) => (await loadLazy()).describeRun(ui, run),
    'trainyard.compareRuns': async (run, all) => (await loadLazy()).compareRuns(ui, run, all),
    'trainyard.exportRun': async (run) => (await loadLazy()).exportRun(ui, run),
    'trainyard.deleteRun': async (run) => (await loadLazy()).deleteRun(ui, run),
    'trainyard.selectRun': async (run) => (await loadLazy()).selectRun(ui, run),
    'trainyard.verifyCheckpoints': async (run) => (await checkpoints()).verifyCheckpoints(ui, run),
    'trainyard.copyCheckpointPath': async (checkpoint) =>
      (await checkpoints()).copyCheckpointPath(ui, checkpoint),
    'trainyard.downloadCheckpoint': async (checkpoint) =>
      (await checkpoints()).downloadCheckpoint(ui, checkpoint),
    'trainyard.revealCheckpoint': async (checkpoint) =>
      (await checkpoints()).revealCheckpoint(ui, checkpoint),
    'trainyard.deleteCheckpoint': async (checkpoint) =>
      (await checkpoints()).deleteCheckpoint(ui, checkpoint),
    'trainyard.evaluateCheckpoint': async (checkpoint) =>
      (await checkpoints()).evaluateCheckpoint(ui, checkpoint),
    'trainyard.predictPictures': async (checkpoint) => (await checkpoints()).predictPictures(ui, checkpoint),
    'trainyard.runFromCheckpoint': async (checkpoint) =>
      (await checkpoints()).runFromCheckpoint(ui, checkpoint),
    'trainyard.copyText': async (row) => (await loadLazy()).copyText(ui, row),
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
