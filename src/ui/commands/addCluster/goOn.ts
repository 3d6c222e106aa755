// What comes after a cluster was connected and checked.
import * as vscode from 'vscode';
import type { CheckResult } from '../../../core/base/checks.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { rememberProfile } from '../../recentRuns.js';
import { plural } from '../../figureText.js';
import { editProfile } from '../profiles/editProfile.js';
import { newRun } from '../start/newRun.js';
import { setPrice } from '../profiles/setPrice.js';
import { runDemo } from '../start/runDemo.js';
import { runTraining } from '../start/runTraining.js';
import type { Ui } from '../ui.js';

interface Item extends vscode.QuickPickItem {
  act: () => Promise<void>;
}

export async function goOn(ui: Ui, session: ClusterSession, results: readonly CheckResult[]): Promise<void> {
  const { name, hosts = [] } = session.profile;
  await rememberProfile(ui.services, name);
  const failed = results.filter(({ ok }) => !ok).length;
  const given = { profile: name };
  const checks: Item = {
    label: failed === 0 ? '$(checklist) Show the Checks' : '$(warning) Show What Failed',
    description: failed === 0 ? 'what each node has' : 'with what to do about it',
    act: () => {
      ui.checks.show(session.profile, { kind: 'done', results, at: new Date() });
      return Promise.resolve();
    },
  };
  const items: Item[] = [
    {
      label: '$(beaker) Try It on Drawn Images',
      description: 'a small network, a minute or two',
      act: () => runDemo(ui, given),
    },
    {
      label: '$(play) Run Training…',
      description: 'on images of your own',
      act: () => runTraining(ui, given),
    },
    {
      label: '$(edit) New Run…',
      description: 'every setting in a form',
      act: () => newRun(ui, given),
    },
    {
      label: '$(credit-card) Set Price…',
      description: 'runs then show what they cost',
      act: async () => {
        await setPrice(ui, given);
        await goOn(ui, session, results);
      },
    },
    {
      label: '$(settings-gear) Edit Profile',
      description: 'ports, restarts, environment',
      act: () => editProfile(ui, given),
    },
  ];
  const said =
    failed === 0
      ? `${plural(results.length, 'check')} passed`
      : `${failed} of ${plural(results.length, 'check')} failed`;
  const item = await vscode.window.showQuickPick(failed === 0 ? [...items, checks] : [checks, ...items], {
    title: `${name} is connected: ${plural(hosts.length, 'node')}, ${said}`,
    placeHolder: 'What next? Escape leaves it at that',
    ignoreFocusOut: true,
  });
  await item?.act();
}
