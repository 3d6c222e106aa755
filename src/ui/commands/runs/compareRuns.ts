// Compare Runs.
import * as vscode from 'vscode';
import type { RunArgument, RunsArgument } from '../../../contributions.js';
import { ownFirst } from '../../../core/model/measured.js';
import { describeRun } from '../../tree/describe.js';
import type { Ui } from '../ui.js';

const title = 'Compare Runs';

/** `given` was clicked, and `all` are selected with it. Fewer than two are asked for. */
export async function compareRuns(
  ui: Ui,
  given?: RunArgument | RunsArgument,
  all?: readonly (RunArgument | RunsArgument)[],
): Promise<void> {
  const chosen = runsOf(all ?? (given ? [given] : ui.runs.selectedRuns));
  const runs = chosen.length >= 2 ? chosen : await ask(ui, chosen);
  if (runs) ui.comparisons.show(runs);
}

/**
 * Each once. A report stands for its runs, oldest first. The group of a profile may be selected
 * too, and stands for none.
 */
function runsOf(nodes: readonly Partial<RunArgument & RunsArgument>[]): RunArgument[] {
  const all = nodes.flatMap(({ profile, id, dir, runs }): RunArgument[] => {
    if (runs) return [...runs].reverse();
    return profile === undefined || id === undefined || dir === undefined ? [] : [{ profile, id, dir }];
  });
  const keyOf = ({ profile, dir }: RunArgument): string => `${profile} ${dir}`;
  return [...new Map(all.map((run) => [keyOf(run), run])).values()];
}

async function ask(ui: Ui, chosen: readonly RunArgument[]): Promise<RunArgument[] | undefined> {
  const { monitor } = await ui.services.backend();
  await ui.clusters.refresh();
  await monitor.refresh();
  const items = ownFirst(monitor.all).map(({ profile, run }) => {
    const { label, description, icon } = describeRun(run);
    const { id, dir } = run.entry;
    const picked = chosen.some((each) => each.profile === profile && each.dir === dir);
    return { label: `$(${icon}) ${label}`, description, detail: profile, picked, run: { profile, id, dir } };
  });
  if (items.length < 2) {
    void vscode.window.showInformationMessage(
      `${title}: there are no two runs yet. Start one, or connect the profile whose runs you want to see.`,
    );
    return undefined;
  }
  const placeHolder = 'Which runs? Two or more';
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder,
    canPickMany: true,
    matchOnDescription: true,
  });
  if (!picked) return undefined;
  if (picked.length >= 2) return picked.map(({ run }) => run);
  void vscode.window.showInformationMessage(`${title}: choose two runs or more.`);
  return undefined;
}
