// Show Batch Script: what Slurm got for a run, as it lies in the run's folder.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { readRemote } from '../../../core/agent/remoteFile.js';
import { UserError } from '../../../core/base/errors.js';
import { join } from '../../../core/base/nodePath.js';
import { batchScriptName } from '../../../core/slurm/script.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function showBatchScript(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Show Batch Script', ({ entry }) => entry.run?.slurm !== undefined);
  if (!run) return;
  const client = await (await (await ui.services.backend()).machine(run.profile)).node.client();
  const { files } = await client.request('run.get', { dir: run.dir });
  const size = files[batchScriptName];
  if (size === undefined) {
    const what = `${run.id} has no batch script, since Slurm did not start it`;
    throw new UserError('usage', what, 'Choose a run of a Slurm profile');
  }
  const text = await readRemote(client, join(run.dir, batchScriptName), 0, size);
  const uri = ui.documents.put(`${run.id} ${batchScriptName}`, text.toString('utf8'));
  await vscode.window.showTextDocument(uri, { preview: true });
}
