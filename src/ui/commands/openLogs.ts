import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { UserError } from '../../core/errors.js';
import { pickRun } from './pickRun.js';
import type { Commands } from './register.js';

/** The rank whose log opens: rank 0 prints what concerns them all. */
export async function openLogs({ services }: Commands, given?: RunArgument): Promise<void> {
  const run = given ?? (await pickRun(services, () => true, 'No runs yet.'));
  if (!run) return;
  const uri = vscode.Uri.file(`${run.dir}/logs/rank-0.log`);
  try {
    await vscode.workspace.fs.stat(uri);
  } catch {
    throw new UserError(
      'usage',
      `${run.id} has no log of rank 0 yet`,
      'Its supervisor.log says how far it came',
    );
  }
  await vscode.window.showTextDocument(uri, { preview: true });
}
