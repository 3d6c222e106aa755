// Open Web Page: what a program of a run serves, say Jupyter or a demo.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { findWebPage, pageUrl } from '../../../core/follow/webPage/webPage.js';
import { statusOf, isOver } from '../../../core/model/runStatus.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import { tunnelsOf } from '../tunnelsOf.js';
import type { Ui } from '../ui.js';

export async function openWebPage(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(
    ui,
    given,
    'Open Web Page',
    ({ entry }) => entry.run?.program === 'command' && !isOver(statusOf(entry)),
  );
  if (!run) return;
  const { clusters } = await ui.services.backend();
  const session = await clusters.get(run.profile);
  const machine = await session.machine();
  const { url, host } = await withProgress('Web Page', async (progress) => {
    const page = await findWebPage(machine, run.dir, {}, progress);
    if (page.isHere) return { ...page, url: pageUrl(page) };
    const { forward } = await tunnelsOf(session).openToRun(page.dir, page.host, page.address.port);
    return { ...page, url: pageUrl(page, forward.port) };
  });
  await ui.clusters.refresh();
  const open = 'Open in Browser';
  const copy = 'Copy Address';
  // The token stays out of what others may see on the screen.
  const { origin, pathname } = new URL(url);
  const what = `${origin}${pathname} leads to ${host}.`;
  void vscode.window.showInformationMessage(what, open, copy).then(async (answer) => {
    if (answer === open) await vscode.env.openExternal(vscode.Uri.parse(url, true));
    if (answer === copy) await vscode.env.clipboard.writeText(url);
  });
}
