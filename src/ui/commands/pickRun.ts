// Which run a command is about, when it came from the palette.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import type { RunOverview } from '../../core/runs/overview.js';
import { describeRun } from '../tree/describe.js';
import type { Services } from '../services.js';

/** Undefined when there is none, which is said, or the user chose none. */
export async function pickRun(
  services: Services,
  wanted: (overview: RunOverview) => boolean,
  none: string,
): Promise<RunArgument | undefined> {
  const items = (await (await services.backend()).runs()).filter(wanted).map((overview) => {
    const { label, description } = describeRun(overview);
    return { label, description, run: { id: overview.entry.id, dir: overview.entry.dir } };
  });
  if (items.length === 0) {
    void vscode.window.showInformationMessage(none);
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which run?' }))?.run;
}
