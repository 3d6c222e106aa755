// Add Cluster: hosts, name, log in, trust, check; of a Slurm cluster also the partition. The profile
// is saved once its head was reached.
import * as vscode from 'vscode';
import type { CheckResult } from '../../../core/base/checks.js';
import { isCancelled } from '../../../core/base/errors.js';
import type { Host, Profile } from '../../../core/contracts/profileSchema.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { configuredHosts } from '../../../core/ssh/config/configuredHosts.js';
import { editorPrompter } from '../../prompter.js';
import { pickOrType } from '../pickOrType.js';
import { askName } from '../profiles/askName.js';
import { hostsOfKey, withChosenKey } from '../profiles/askKeyFile.js';
import { hostsOfFile } from '../profiles/importProfile.js';
import { changed, save } from '../profiles/saveProfile.js';
import { newRun } from '../start/newRun.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { askAfterFailure, type AfterFailure } from './askAfterFailure.js';
import { askHosts } from './askHosts.js';
import { choosePartition } from './choosePartition.js';
import { goOn } from './goOn.js';
import { LoginChoice } from './loginChoice.js';
import { nameOf } from './nameOf.js';

const title = 'Add Cluster';

interface Trial {
  session: ClusterSession;
  results: CheckResult[];
}

/** `then`: where it goes on; left out, that is asked. UserError, Cancelled. */
export async function addCluster(ui: Ui, then?: 'form'): Promise<void> {
  const asked = await askHosts(title);
  const hosts = asked === 'file' ? await hostsOfFile() : asked;
  if (!hosts) return;
  const names = hosts.map(({ host }) => host);
  const taken = (await (await ui.services.backend()).profiles().list()).map(({ name }) => name);
  const prompt = `A name for the profile. Enter connects to ${names.join(', ')}`;
  const name = await askName(ui, title, nameOf(names, taken), prompt);
  if (name === undefined) return;
  const trial = await untilConnected(ui, { name, kind: 'ssh', hosts });
  if (!trial) return;
  if (then === 'form') await newRun(ui, { profile: name });
  else await goOn(ui, trial.session, trial.results);
}

/** Undefined: it was given up, or the profile was saved to be edited. */
async function untilConnected(ui: Ui, first: Profile): Promise<Trial | undefined> {
  let profile: Profile | undefined = first;
  while (profile) {
    const choice = new LoginChoice(editorPrompter());
    const trial = await attempt(ui, profile, choice);
    if (trial) {
      const failed = failuresOf(trial);
      if (failed.length === 0) {
        choice.settle();
        const chosen = await choosePartition(title, trial.session, ui.services.logger);
        if (chosen === profile) {
          await keep(ui, trial);
          return trial;
        }
        trial.session.dispose(); // a profile of kind slurm has another kind of machine
        profile = chosen;
        continue;
      }
      trial.session.dispose();
      const hosts = new Set(failed.map(({ host }) => host));
      const answer = await askAfterFailure(profile.name, failed, (profile.hosts ?? []).length - hosts.size);
      profile = await changedBy(ui, answer, profile, failed);
    } else if (choice.instead?.way === 'key') {
      const { hosts = [] } = profile;
      profile = withHosts(profile, await withChosenKey(title, hosts, hostsOfKey(hosts, choice.instead.host)));
    }
  }
  return undefined;
}

/** Undefined: another way to log in was chosen. Cancelled. */
async function attempt(ui: Ui, profile: Profile, choice: LoginChoice): Promise<Trial | undefined> {
  const session = (await ui.services.backend()).trial(profile, choice);
  try {
    const results = await withProgress(`Connecting to ${profile.name}`, (progress) =>
      session.check(progress),
    );
    return { session, results };
  } catch (error) {
    session.dispose();
    if (isCancelled(error) && choice.instead) return undefined;
    throw error;
  }
}

/** Of hosts that were not reached; without the head, all that is wrong. */
function failuresOf({ session, results }: Trial): CheckResult[] {
  return results.filter(({ name, ok }) => !ok && (!session.connected || name === 'connection'));
}

/** Undefined: the flow ends here. */
async function changedBy(
  ui: Ui,
  answer: AfterFailure,
  profile: Profile,
  failed: readonly CheckResult[],
): Promise<Profile | undefined> {
  const { hosts = [] } = profile;
  const named = hosts.filter((each) => failed.some(({ host }) => host === each.host));
  switch (answer) {
    case 'retry':
      return profile;
    case 'ownSsh':
      return { ...profile, transport: 'openssh' };
    case 'key':
      return withHosts(profile, await withChosenKey(title, hosts, named));
    case 'jump':
      return withHosts(profile, await withJump(hosts, named));
    case 'without':
      return { ...profile, hosts: hosts.filter((host) => !named.includes(host)) };
    case 'edit':
      await save(ui, profile);
      return undefined;
    case undefined:
      return undefined;
  }
}

const withHosts = (profile: Profile, hosts: Host[] | undefined): Profile | undefined =>
  hosts && { ...profile, hosts };

async function withJump(hosts: readonly Host[], named: readonly Host[]): Promise<Host[] | undefined> {
  const known = (await configuredHosts()).filter((name) => !hosts.some(({ host }) => host === name));
  const placeholder = 'The host through which the others are reached, for example me@gate:2222';
  const item = await pickOrType(
    { title, placeholder },
    known.map((label) => ({ label })),
    (label) => (/^[^\s-]\S*$/.test(label) && !known.includes(label) ? { label } : undefined),
  );
  return item && hosts.map((each) => (named.includes(each) ? { ...each, proxyJump: item.label } : each));
}

async function keep(ui: Ui, { session }: Trial): Promise<void> {
  const backend = await ui.services.backend();
  await backend.profiles().save(session.profile);
  backend.clusters.adopt(session);
  await changed(ui);
  void backend.monitor.refresh(session.profile.name); // nobody has to wait for the list of its runs
  await vscode.commands.executeCommand('trainyard.clusters.focus');
}
