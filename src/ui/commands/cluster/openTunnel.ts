// Open Tunnel.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { parseTunnel, tunnelText } from '../../../core/tunnels/tunnelSpec.js';
import { errorWords } from '../../remedies.js';
import { rememberTunnel } from '../../remembered/rememberedTunnels.js';
import { withProgress } from '../progress.js';
import { tunnelsOf } from '../tunnelsOf.js';
import type { Ui } from '../ui.js';
import { pickCluster } from './pickCluster.js';

export async function openTunnel(ui: Ui, given?: ProfileArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Open Tunnel');
  if (!cluster) return;
  const { session } = cluster;
  const text = await vscode.window.showInputBox({
    title: `Open Tunnel to ${session.profile.name}`,
    prompt: 'LOCAL:REMOTE, both ports; HOST/LOCAL:REMOTE for another host than the head',
    placeHolder: '6006:6006',
    ignoreFocusOut: true,
    validateInput: (typed) => {
      try {
        parseTunnel(typed);
        return undefined;
      } catch (error) {
        return errorWords(error);
      }
    },
  });
  if (text === undefined) return;
  const spec = parseTunnel(text);
  const tunnel = await withProgress(`Opening tunnel ${text}`, ({ signal }) =>
    tunnelsOf(session).open(spec, signal),
  );
  await rememberTunnel(ui.services.context.globalState, session.profile.name, tunnelText(spec));
  await ui.clusters.refresh();
  const { local, port, remote } = tunnel.forward;
  const taken = port === spec.local ? '' : ` (${spec.local} is taken)`;
  const open = 'Open in Browser';
  void vscode.window.showInformationMessage(`${local} leads to ${remote}${taken}.`, open).then((answer) => {
    if (answer === open) void vscode.env.openExternal(vscode.Uri.parse(`http://${local}/`));
  });
}
