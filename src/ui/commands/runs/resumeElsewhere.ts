// Resume on Another Head.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { Progress } from '../../../core/base/progress.js';
import { moveHead, runsUnder, withHead, withHeadNow, type MovedRun } from '../../../core/cluster/moveHead.js';
import { headFirst } from '../../../core/cluster/nodes/hosts.js';
import type { MirroredRun, RunEntry } from '../../../core/contracts/agentApi.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { statusOf } from '../../../core/model/runStatus.js';
import { editorPrompter } from '../../prompter.js';
import { pickProfile } from '../pick.js';
import { demandValid } from '../profiles/saveProfile.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { resumeRun } from './resumeRun.js';

const title = 'Resume on Another Head';

/**
 * A run whose head is lost goes on under another host, which is the head of the profile from then
 * on. UserError, Cancelled.
 */
export async function resumeElsewhere(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, title, ({ profile: { kind } }) => kind === 'ssh');
  if (!session) return;
  const host = await pickHead(session.profile);
  if (host === undefined) return;
  const profile = withHead(session.profile, host);
  demandValid(profile);
  const backend = await ui.services.backend();
  const trial = backend.trial(profile, editorPrompter());
  let moved: { id: string } & MovedRun;
  try {
    const runs = await withProgress(`Looking for runs on ${host}`, async () =>
      runsUnder(await trial.machine(), profile),
    );
    const entry = await pickOne(runs, host);
    if (!entry) {
      trial.dispose();
      return;
    }
    moved = await withProgress(`Asking for ${entry.id}`, (progress) => move(session, trial, entry, progress));
    await backend.profiles().change(profile.name, (current) => withHeadNow(current, host));
  } catch (error) {
    trial.dispose();
    throw error;
  }
  backend.clusters.adopt(trial);
  await ui.clusters.refresh();
  const { id, details, hosts } = moved;
  await resumeRun(ui, { profile: profile.name, id, dir: details.dir, ...(hosts ? { hosts } : {}) });
}

async function pickHead(profile: Profile): Promise<string | undefined> {
  const [, ...others] = headFirst(profile);
  const items = others.map(({ host }) =>
    host === profile.mirror
      ? { label: host, description: 'keeps a copy of the folder of each run', order: 0 }
      : { label: host, description: '', order: 1 },
  );
  items.sort((one, other) => one.order - other.order);
  if (items.length === 0) {
    const hint = 'Add one to "hosts", and name it as "mirror", before a head is lost';
    throw new UserError('usage', `profile ${profile.name} has no other host`, hint);
  }
  const placeHolder = 'Which host is the head from now on?';
  return (await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true }))?.label;
}

async function pickOne(
  runs: readonly (RunEntry | MirroredRun)[],
  host: string,
): Promise<RunEntry | undefined> {
  const items = runs
    .filter((entry) => statusOf(entry) !== 'finished')
    .map((entry) => {
      const copied = 'time' in entry ? `copy of ${new Date(entry.time * 1000).toLocaleString()}` : '';
      const description = [entry.about?.name ?? '', copied].filter(Boolean).join(' · ');
      return { label: entry.id, description, detail: entry.run?.argv.join(' ') ?? '', entry };
    });
  if (items.length === 0) {
    const what = `${host} has no run that can go on: it keeps no copy of one, and shares no disk with the head`;
    throw new UserError('usage', what, 'Name another host, or bring the head back');
  }
  const asked = { title, placeHolder: 'Which run?', ignoreFocusOut: true };
  return (await vscode.window.showQuickPick(items, asked))?.entry;
}

async function move(
  session: ClusterSession,
  trial: ClusterSession,
  entry: RunEntry,
  progress: Progress,
): Promise<{ id: string } & MovedRun> {
  const before = { profile: session.profile, machine: () => session.machine() };
  const machine = await trial.machine();
  return { id: entry.id, ...(await moveHead({ entry, profile: trial.profile, machine, before }, progress)) };
}
