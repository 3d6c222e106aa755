// Verify Checkpoints.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { plural } from '../../figureText.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import { runTitle } from '../runTitle.js';
import type { Ui } from '../ui.js';

export async function verifyCheckpoints(ui: Ui, given?: RunArgument): Promise<void> {
  const run = given ?? ui.checkpoints.run ?? (await pickRun(ui, undefined, 'Verify Checkpoints'));
  if (!run) return;
  const { checkpoints } = await withProgress('Verifying checkpoints', async ({ signal }) => {
    const client = await (await (await ui.services.backend()).machine(run.profile)).node.client();
    const options = { timeout: 30 * 60_000, ...(signal ? { signal } : {}) };
    return client.request('checkpoint.list', { dir: run.dir, verify: true }, options);
  });
  await ui.checkpoints.refresh();
  const title = await runTitle(ui.services, run);
  const bad = checkpoints.filter(({ valid }) => !valid);
  if (bad.length === 0) {
    void vscode.window.showInformationMessage(
      `${plural(checkpoints.length, 'checkpoint')} of ${title} verified: every file has the size and SHA-256 that its manifest names.`,
    );
    return;
  }
  const names = bad.map(({ step, reason }) => `step ${step} (${reason ?? 'unknown'})`).join(', ');
  throw new UserError(
    'failed',
    `${plural(bad.length, 'checkpoint')} of ${title} not valid: ${names}`,
    'Resuming passes over them; delete them to free their space',
  );
}
