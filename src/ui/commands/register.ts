// The table of commands. What goes wrong in one is shown, with what to do about it. A new command
// has five places: contributions.ts (its id and arguments), a file of its own in a folder beside
// this one, the commands.ts of that folder (its export), a line here, and package.json (its title).
import * as vscode from 'vscode';
import { commandIds, type CommandArguments, type CommandId } from '../../contributions.js';
import { isCancelled } from '../../core/base/errors.js';
import { loadLazy } from '../loadLazy.js';
import { errorWords } from '../remedies.js';
import { copyText } from './copyText.js';
import { showError } from './showError.js';
import type { Ui } from './ui.js';

type Table = { [K in CommandId]: (...args: CommandArguments[K]) => Promise<void> };

const adding = async () => (await loadLazy()).commands.addCluster();
const checkpoints = async () => (await loadLazy()).commands.checkpoints();
const cluster = async () => (await loadLazy()).commands.cluster();
const exporting = async () => (await loadLazy()).commands.export();
const profiles = async () => (await loadLazy()).commands.profiles();
const reports = async () => (await loadLazy()).commands.reports();
const runs = async () => (await loadLazy()).commands.runs();
const start = async () => (await loadLazy()).commands.start();

function tableOf(ui: Ui): Table {
  return {
    'trainyard.addCluster': async (then) => (await adding()).addCluster(ui, then),
    'trainyard.addProfile': async () => (await profiles()).addProfile(ui),
    'trainyard.editProfile': async (profile) => (await profiles()).editProfile(ui, profile),
    'trainyard.chooseKey': async (host) => (await profiles()).chooseKey(ui, host),
    'trainyard.setPrice': async (profile) => (await profiles()).setPrice(ui, profile),
    'trainyard.duplicateProfile': async (profile) => (await profiles()).duplicateProfile(ui, profile),
    'trainyard.removeProfile': async (profile) => (await profiles()).removeProfile(ui, profile),
    'trainyard.importProfile': async () => (await profiles()).importProfile(ui),
    'trainyard.exportProfile': async (profile) => (await profiles()).exportProfile(ui, profile),
    'trainyard.openProfiles': async (place) => (await profiles()).openProfiles(ui, place),
    'trainyard.connect': async (profile) => (await cluster()).connect(ui, profile),
    'trainyard.disconnect': async (profile) => (await cluster()).disconnect(ui, profile),
    'trainyard.checkProfile': async (profile) => (await cluster()).checkProfile(ui, profile),
    'trainyard.openNodeTerminal': async (host) => (await cluster()).openNodeTerminal(ui, host),
    'trainyard.copyNodeName': async (host) => (await cluster()).copyNodeName(ui, host),
    'trainyard.runOnAll': async (profile) => (await cluster()).runOnAll(ui, profile),
    'trainyard.copyToAll': async (profile) => (await cluster()).copyToAll(ui, profile),
    'trainyard.copyToNode': async (given) => (await cluster()).copyToNode(ui, given),
    'trainyard.openTunnel': async (profile) => (await cluster()).openTunnel(ui, profile),
    'trainyard.closeTunnel': async (tunnel) => (await cluster()).closeTunnel(ui, tunnel),
    'trainyard.measureScaling': async (given) => (await reports()).measureScaling(ui, given),
    'trainyard.findBestSettings': async (given) => (await reports()).findBestSettings(ui, given),
    'trainyard.runSweep': async (from) => (await reports()).runSweep(ui, from),
    'trainyard.openReport': async (row) => (await reports()).openReport(ui, row),
    'trainyard.refresh': async () => {
      await ui.clusters.refresh();
      await ui.runs.refresh();
      await ui.checkpoints.refresh();
    },
    'trainyard.newRun': async (from) => (await start()).newRun(ui, from),
    'trainyard.runTraining': async (given) => (await start()).runTraining(ui, given),
    'trainyard.runOnCluster': async (file) => (await start()).runOnCluster(ui, file),
    'trainyard.trainOnFolder': async (folder) => (await start()).trainOnFolder(ui, folder),
    'trainyard.runAgain': async (how) => (await start()).runAgain(ui, how),
    'trainyard.runDemo': async (profile) => (await start()).runDemo(ui, profile),
    'trainyard.attachRun': async () => (await runs()).attachRun(ui),
    'trainyard.stopAfterCheckpoint': async (run) => (await runs()).stopRun(ui, 'checkpoint', run),
    'trainyard.stopNow': async (run) => (await runs()).stopRun(ui, 'now', run),
    'trainyard.openDashboard': async (run) => (await runs()).openDashboard(ui, run),
    'trainyard.openTensorBoard': async (run) => (await runs()).openTensorBoard(ui, run),
    'trainyard.openTensorBoardInBrowser': async (run) => (await runs()).openTensorBoardInBrowser(ui, run),
    'trainyard.openLogs': async (run) => (await runs()).openLogs(ui, run),
    'trainyard.openTerminal': async (run) => (await runs()).openTerminal(ui, run),
    'trainyard.openWebPage': async (run) => (await runs()).openWebPage(ui, run),
    'trainyard.attachDebugger': async (run) => (await runs()).attachDebugger(ui, run),
    'trainyard.showBatchScript': async (run) => (await runs()).showBatchScript(ui, run),
    'trainyard.revealRunFolder': async (run) => (await runs()).revealRunFolder(ui, run),
    'trainyard.copyRunFolder': async (run) => (await runs()).copyRunFolder(ui, run),
    'trainyard.cloneRun': async (run) => (await start()).cloneRun(ui, run),
    'trainyard.resumeRun': async (run) => (await runs()).resumeRun(ui, run),
    'trainyard.resumeElsewhere': async (profile) => (await runs()).resumeElsewhere(ui, profile),
    'trainyard.describeRun': async (run) => (await runs()).describeRun(ui, run),
    'trainyard.compareRuns': async (run, all) => (await runs()).compareRuns(ui, run, all),
    'trainyard.filterRuns': async () => (await runs()).filterRuns(ui),
    'trainyard.clearRunFilter': async () => (await runs()).clearRunFilter(ui),
    'trainyard.exportRun': async (run) => (await exporting()).exportRun(ui, run),
    'trainyard.downloadFiles': async (run) => (await runs()).downloadFiles(ui, run),
    'trainyard.deleteRun': async (run) => (await runs()).deleteRun(ui, run),
    'trainyard.selectRun': async (run) => (await runs()).selectRun(ui, run),
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
    'trainyard.copyText': (row) => copyText(ui, row),
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
