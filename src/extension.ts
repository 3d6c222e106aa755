// Composition root of the editor's side: builds what shows the core, and owns it all.
import * as vscode from 'vscode';
import type { Logger } from './core/base/log.js';
import { registerLanguageTools } from './ui/assist/languageTools.js';
import { pressRemedy, showError } from './ui/commands/showError.js';
import { registerCommands } from './ui/commands/register.js';
import { registerTerminalProfile } from './ui/commands/terminalProfile.js';
import type { Ui } from './ui/commands/ui.js';
import { recentRuns } from './ui/recentRuns.js';
import { ContextKeys } from './ui/contextKeys.js';
import { loadLazy } from './ui/loadLazy.js';
import { RunForms } from './ui/form/runForms.js';
import { CheckPanels } from './ui/panels/checkPanel.js';
import { ComparePanels } from './ui/panels/comparePanel.js';
import { dashboardPanels } from './ui/panels/dashboardPanel.js';
import { ReportPanels } from './ui/panels/reportPanel.js';
import { RunPanels } from './ui/panels/runPanels.js';
import { tensorboardPanels } from './ui/panels/tensorboardPanel.js';
import { ProfileWatcher } from './ui/profileWatcher.js';
import { ReadOnlyDocuments } from './ui/readOnlyDocuments.js';
import { rememberedSweeps } from './ui/remembered/rememberedSweeps.js';
import { Services } from './ui/services.js';
import { snapshotOf, type Snapshot } from './ui/snapshot.js';
import { RunNotifications } from './ui/runNotifications.js';
import { StatusBar } from './ui/statusBar.js';
import { RunTerminals } from './ui/terminal/runTerminals.js';
import { registerTasks } from './ui/tasks/taskProvider.js';
import { CheckpointTree } from './ui/tree/checkpointTree.js';
import { ClusterTree } from './ui/tree/clusterTree.js';
import { Reading } from './ui/tree/reading.js';
import { RunTree } from './ui/tree/runTree.js';
import { WorkspaceProfiles } from './ui/workspaceProfiles.js';

/** What other extensions, and the tests, get from ours. */
export interface Api {
  /** What the views show now. */
  snapshot(): Promise<Snapshot>;
}

export function activate(context: vscode.ExtensionContext): Api {
  const channel = vscode.window.createOutputChannel('Trainyard', { log: true });
  const logger: Logger = {
    log: (level, text) => {
      channel[level](text);
    },
  };
  const services = new Services(context, logger, loadLazy);
  const keys = new ContextKeys();
  const reading = new Reading();
  const runs = new RunTree(services, keys, reading);
  const showOutput = (): void => {
    channel.show();
  };
  const ui: Ui = {
    services,
    keys,
    clusters: new ClusterTree(services, keys, reading),
    runs,
    checkpoints: new CheckpointTree(services, keys, reading),
    dashboards: new RunPanels(services, dashboardPanels, () => {
      keys.update({ dashboardShown: true });
    }),
    tensorboards: new RunPanels(services, tensorboardPanels, () => {
      keys.update({ tensorboardShown: true });
    }),
    terminals: new RunTerminals(services),
    checks: new CheckPanels(services, async (button, profile) => {
      if ('fix' in button) {
        const { fixCheck } = await (await loadLazy()).commands.cluster();
        await fixCheck(ui, profile, button.fix);
      } else await pressRemedy(ui, button);
    }),
    comparisons: new ComparePanels(services),
    reports: new ReportPanels(services),
    forms: new RunForms(async (panel) => {
      const { restoreForm } = await (await loadLazy()).commands.start();
      await restoreForm(ui, panel);
    }),
    documents: new ReadOnlyDocuments(),
    showOutput,
  };
  const statusBar = new StatusBar(ui);
  keys.update({ canRunAgain: recentRuns(services).length > 0, canConnect: true });
  context.subscriptions.push(
    channel,
    services,
    statusBar,
    new RunNotifications(ui),
    ui.clusters,
    ui.runs,
    ui.checkpoints,
    ui.dashboards,
    ui.tensorboards,
    ui.checks,
    ui.comparisons,
    ui.reports,
    ui.forms,
    ui.documents,
    new ProfileWatcher(ui),
    new WorkspaceProfiles(ui),
    runs.onSelect((run) => void ui.checkpoints.choose(run)),
    ui.dashboards.onFront((run) => void ui.checkpoints.choose(run)),
    registerCommands(ui),
    registerLanguageTools(services),
    registerTasks(ui),
    registerTerminalProfile(ui),
  );
  if (rememberedSweeps(context.workspaceState).length > 0) void offerLeftSweeps(ui);
  return { snapshot: () => snapshotOf(ui, statusBar) };
}

async function offerLeftSweeps(ui: Ui): Promise<void> {
  try {
    const { offerSweeps } = await (await loadLazy()).commands.reports();
    await offerSweeps(ui);
  } catch (error) {
    void showError(ui, error);
  }
}
