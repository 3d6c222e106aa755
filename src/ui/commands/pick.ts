// Which run or profile a command is about, when it came from the palette.
import * as vscode from 'vscode';
import type { ProfileArgument, RunArgument } from '../../contributions.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { lastProfile } from '../recentRuns.js';
import { describeProfile, describeRun } from '../tree/describe.js';
import { orderedProfiles } from './profileOrder.js';
import { orderedRuns } from './runOrder.js';
import type { Ui } from './ui.js';

/**
 * The given run; else the only one wanted; else the one that is chosen. Undefined when there is
 * none, which is said. First stands the run that is selected, or with `runningFirst` what is under
 * way.
 */
export async function pickRun(
  ui: Ui,
  given: RunArgument | undefined,
  title: string,
  wanted: (overview: RunOverview) => boolean = () => true,
  { runningFirst = false } = {},
): Promise<RunArgument | undefined> {
  if (given) return { profile: given.profile, id: given.id, dir: given.dir };
  const backend = await ui.services.backend();
  await ui.clusters.refresh();
  await backend.monitor.refresh();
  const selected = ui.runs.selected?.dir;
  const items = orderedRuns(
    backend.monitor.all.filter(({ run }) => wanted(run)),
    selected,
    runningFirst,
  ).map(({ profile, run }) => {
    const { label, description, icon } = describeRun(run);
    const { id, dir } = run.entry;
    return { label: `$(${icon}) ${label}`, description, detail: profile, run: { profile, id, dir } };
  });
  if (backend.monitor.all.length === 0) {
    void offerRun(title);
    return undefined;
  }
  if (items.length === 0) {
    void vscode.window.showInformationMessage(`${title}: there is no such run.`);
    return undefined;
  }
  if (items.length === 1) return items[0]?.run;
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'Which run?' }))?.run;
}

/** Nothing was ever run, or its machine is not connected. */
async function offerRun(title: string): Promise<void> {
  const choices = { 'Try It on Drawn Images': 'trainyard.runDemo', 'Run Training…': 'trainyard.runTraining' };
  const titles = Object.keys(choices) as (keyof typeof choices)[];
  const what = `${title}: there is no run yet. Start one, or connect the profile whose runs you want to see.`;
  const answer = await vscode.window.showInformationMessage(what, ...titles);
  if (answer !== undefined) await vscode.commands.executeCommand(choices[answer]);
}

/**
 * The given profile; else the only one wanted; else the one that is chosen. First stands the
 * default profile, then the one that was used last.
 */
export async function pickProfile(
  ui: Ui,
  given: ProfileArgument | undefined,
  title: string,
  wanted: (session: ClusterSession) => boolean = () => true,
): Promise<ClusterSession | undefined> {
  const backend = await ui.services.backend();
  const sessions = await backend.clusters.list();
  if (given) return backend.session(given.profile);
  const usual = ui.services.setting('trainyard.defaultProfile');
  const ordered = orderedProfiles(sessions, [usual, lastProfile(ui.services)]);
  const items = ordered.filter(wanted).map((session) => {
    const { label, description } = describeProfile(session.profile, session.state);
    return { label, description, session };
  });
  if (items.length === 0) {
    void vscode.window.showInformationMessage(`${title}: there is no such profile.`);
    return undefined;
  }
  if (items.length === 1) return items[0]?.session;
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'Which profile?' }))?.session;
}
