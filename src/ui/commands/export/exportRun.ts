// Export Run: to MLflow, into a folder of W&B, or into a file.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import type { ExportedCheckpoints } from '../../../core/export/checkpoints.js';
import { trackerFor, type Destination } from '../../../core/export/places/destination.js';
import { exportRun as bring, type Exported } from '../../../core/export/exportRun.js';
import { isOver, statusOf } from '../../../core/model/runStatus.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import { showFolder } from '../showFolder.js';
import type { Ui } from '../ui.js';
import { askCheckpoints, askDestination, askFollow } from './askExport.js';
import { withMlflowLogin } from './mlflowLogin.js';

const title = 'Export Run';

/**
 * Asks where to; a run that was exported there before is brought up to date. UserError, Cancelled.
 */
export async function exportRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, title);
  if (!run) return;
  const { node } = await (await ui.services.backend()).machine(run.profile);
  const entry = await (await node.client()).request('run.get', { dir: run.dir });
  const destination = await askDestination(run.id);
  if (!destination) return;
  const checkpoints = destination.to === 'mlflow' ? await askCheckpoints() : 'none';
  if (checkpoints === undefined) return;
  const follow = isOver(statusOf(entry)) ? false : await askFollow();
  if (follow === undefined) return;
  const notes: string[] = [];
  const exportWith = (env: NodeJS.ProcessEnv): Promise<Exported> =>
    withProgress(`Export of ${run.id}`, (progress) => {
      const onNote = (text: string): void => {
        if (!notes.includes(text)) notes.push(text);
        progress.onProgress?.(text);
      };
      const tracker = trackerFor(destination, { profile: run.profile, env, howToUpload, onNote });
      return bring({ node, entry, tracker, follow, checkpoints: sent(checkpoints), progress, onNote });
    });
  const exported =
    destination.to === 'mlflow'
      ? await withMlflowLogin(ui.services.context.secrets, destination.uri, exportWith)
      : await exportWith(process.env);
  await tell(destination, exported, notes);
}

const sent = (checkpoints: ExportedCheckpoints | 'none'): ExportedCheckpoints | undefined =>
  checkpoints === 'none' ? undefined : checkpoints;

const howToUpload = (path: string, over: boolean): string =>
  over
    ? `W&B's own program uploads it: wandb sync ${path}`
    : `W&B's own program uploads it while the run goes on: wandb beta sync --live ${path}`;

async function tell(
  { to }: Destination,
  { place, values, checkpoints }: Exported,
  notes: readonly string[],
): Promise<void> {
  const what = checkpoints === 0 ? '' : ` and ${checkpoints} checkpoint${checkpoints === 1 ? '' : 's'}`;
  const open = { mlflow: 'Open in Browser', wandb: 'Show Folder', csv: 'Open File', json: 'Open File' }[to];
  const text = [`${place} has ${values} values${what}`, ...notes].join('. ');
  const answer = await vscode.window.showInformationMessage(text, open, 'Copy Path');
  if (answer === 'Copy Path') await vscode.env.clipboard.writeText(place);
  if (answer !== open) return;
  if (to === 'wandb') await showFolder(place);
  else if (to === 'mlflow') await vscode.env.openExternal(vscode.Uri.parse(place, true));
  else await vscode.window.showTextDocument(vscode.Uri.file(place), { preview: true });
}
