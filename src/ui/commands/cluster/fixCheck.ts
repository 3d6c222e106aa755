// The button of a check's page that runs what mends a row.
import * as vscode from 'vscode';
import { isCancelled } from '../../../core/base/errors.js';
import type { Fix } from '../../../core/check/fixes.js';
import { applyFixes, asksPassword, type Fixed } from '../../../core/cluster/nodes/fixNodes.js';
import { namesText } from '../../../core/model/hosts/nodeNames.js';
import { errorWords } from '../../remedies.js';
import { withProgress } from '../progress.js';
import { showError } from '../showError.js';
import type { Ui } from '../ui.js';
import { checkProfile } from './checkProfile.js';
import { pickCluster } from './pickCluster.js';

/**
 * Shows the command, runs it on the fix's nodes after a yes, and checks again. Errors are shown.
 */
export async function fixCheck(ui: Ui, profile: string, fix: Fix): Promise<void> {
  try {
    if (await runFix(ui, profile, fix)) await checkProfile(ui, { profile });
  } catch (error) {
    if (!isCancelled(error)) await showError(ui, error);
  }
}

/** Whether it was run, however it ended. */
async function runFix(ui: Ui, profile: string, fix: Fix): Promise<boolean> {
  const cluster = await pickCluster(ui, { profile }, 'Fix');
  if (!cluster) return false;
  const { purpose, command, asRoot, onNextLogin } = fix.remedy;
  const where = namesText(fix.hosts);
  const run = asRoot ? 'Run as Root' : 'Run';
  const question = `Run this on ${where}${asRoot ? ' as root' : ''}?`;
  const detail = `${command}\n\n${purpose}.`;
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, run);
  if (answer !== run) return false;
  const done = await withProgress(`Fixing ${fix.row} on ${where}`, ({ signal }) =>
    applyFixes(cluster.machine.nodes, [fix], signal),
  );
  const failed = done.filter(({ code }) => code !== 0);
  if (failed.length > 0) void tellFailed(profile, failed);
  else if (onNextLogin) {
    const text = `${fix.row}: the new limit counts for new connections. Disconnect and connect to see it.`;
    void vscode.window.showInformationMessage(text);
  }
  return true;
}

async function tellFailed(profile: string, failed: readonly Fixed[]): Promise<void> {
  const [first] = failed;
  if (!first) return;
  const { host, code, said, error } = first;
  const ending = error === undefined ? `exit ${code ?? 'unknown'}${said && `: ${said}`}` : errorWords(error);
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  const advice = asksPassword(first) ? ' Run it with sudo in a terminal of the node.' : '';
  const open = 'Open Terminal';
  const answer = await vscode.window.showErrorMessage(`${host}: ${ending}${more}.${advice}`, open);
  if (answer === open) await vscode.commands.executeCommand('trainyard.openNodeTerminal', { profile, host });
}
