// What the user looks at needs no notification.
import * as vscode from 'vscode';
import type { DashboardPanel } from './dashboardPanel.js';
import type { RunPanels } from './runPanels.js';

/** Whether the dashboard of the run in this folder is the active tab of a window in front. */
export function isInFront({ open }: Pick<RunPanels<DashboardPanel>, 'open'>, dir: string): boolean {
  const panel = open.find(({ run }) => run.dir === dir)?.panel;
  return panel?.active === true && vscode.window.state.focused;
}
