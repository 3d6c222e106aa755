// The tabs of a run that has just started.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import type { DashboardPanel } from './dashboardPanel.js';
import type { RunPanels } from './runPanels.js';
import type { TensorBoardPanel } from './tensorboardPanel.js';

interface Panels {
  dashboards: Pick<RunPanels<DashboardPanel>, 'show'>;
  tensorboards: Pick<RunPanels<TensorBoardPanel>, 'openQuietly'>;
}

/**
 * Opens what is wanted of the two. TensorBoard never covers what somebody looks at: it stands behind
 * the dashboard, and without one beside the active tab. It does not take the focus.
 */
export function showStarted(
  { dashboards, tensorboards }: Panels,
  run: RunArgument,
  { dashboard, tensorboard }: { dashboard: boolean; tensorboard: boolean },
): void {
  // The dashboard comes second, and so stands before it.
  if (tensorboard) {
    tensorboards.openQuietly(run, dashboard ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside);
  }
  if (dashboard) dashboards.show(run);
}
