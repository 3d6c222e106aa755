// Commands on the nodes of a profile: checks, terminals, one command or one copy for all, tunnels.
import * as vscode from 'vscode';
import type { HostArgument, ProfileArgument, TunnelArgument } from '../../contributions.js';
import { demandCluster } from '../../core/cluster/demandCluster.js';
import { runOnAll as run } from '../../core/cluster/fanOut.js';
import { Transcripts } from '../../core/cluster/hostLines.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import type { SshMachine } from '../../core/cluster/sshMachine.js';
import { UserError } from '../../core/base/errors.js';
import { nodePath } from '../../core/base/nodePath.js';
import { parseTunnel, tunnelText } from '../../core/tunnels/tunnelSpec.js';
import { forgetTunnel, rememberedTunnels, rememberTunnel } from '../rememberedTunnels.js';
import { plural } from '../words.js';
import { NodeTerminal } from '../terminal/nodeTerminal.js';
import { showChecks } from './checksDocument.js';
import { pickProfile } from './pick.js';
import { withProgress } from './progress.js';
import type { Ui } from './ui.js';
import { errorWords } from '../remedies.js';

interface Cluster {
  session: ClusterSession;
  machine: SshMachine;
}

async function pickCluster(
  ui: Ui,
  given: ProfileArgument | undefined,
  title: string,
): Promise<Cluster | undefined> {
  const session = await pickProfile(ui, given, title, ({ profile }) => profile.kind === 'ssh');
  if (!session) return undefined;
  const hint = 'Choose a profile whose hosts are reached by SSH';
  return { session, machine: demandCluster(await session.machine(), session.profile, hint) };
}

export async function checkProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Check Profile');
  if (!session) return;
  const { profile } = session;
  const results = await withProgress(`Checking ${profile.name}`, async (progress) =>
    (await session.machine()).check(profile, progress),
  );
  await showChecks(ui.documents, profile.name, results);
}

export async function openNodeTerminal(ui: Ui, given?: HostArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Open Terminal on a Node');
  if (!cluster) return;
  const names = cluster.machine.nodes.map(({ name }) => name);
  const only = names.length === 1 ? names[0] : undefined;
  const host =
    given?.host ?? only ?? (await vscode.window.showQuickPick(names, { title: 'Open Terminal on a Node' }));
  if (host === undefined) return;
  const [node] = cluster.machine.select([host]);
  const pty = new NodeTerminal(host, async (size) => {
    if (!node) throw new TypeError('select names a node or throws');
    return (await node.connection()).shell(size);
  });
  vscode.window.createTerminal({ name: host, pty, iconPath: new vscode.ThemeIcon('server') }).show();
}

export async function runOnAll(ui: Ui, given?: ProfileArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Run a Command on All Nodes');
  if (!cluster) return;
  const { machine, session } = cluster;
  const command = await vscode.window.showInputBox({
    title: `Run on All Nodes of ${session.profile.name}`,
    prompt: 'A shell command; /bin/sh on each node reads it',
    placeHolder: 'nvidia-smi',
    ignoreFocusOut: true,
  });
  if (command === undefined || command.trim() === '') return;
  const transcripts = new Transcripts(machine.nodes.map(({ name }) => name));
  const endings = await withProgress(`${command} on ${machine.nodes.length} nodes`, ({ signal }) =>
    run(
      machine.nodes,
      ['/bin/sh', '-c', command],
      (line) => {
        transcripts.add(line);
      },
      signal,
    ),
  );
  const parts = endings.map(({ host, code, signal, error }) => {
    const ending = error === undefined ? (signal ?? `exit ${code ?? 'unknown'}`) : errorWords(error);
    return [`── ${host}: ${ending}`, ...transcripts.of(host), ''].join('\n');
  });
  const content = [`$ ${command}`, '', ...parts].join('\n');
  await vscode.window.showTextDocument(ui.documents.put(`All nodes of ${session.profile.name}.txt`, content));
}

export async function copyToAll(ui: Ui, given?: ProfileArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Copy to All Nodes');
  if (!cluster) return;
  const { machine, session } = cluster;
  const title = `Copy to All Nodes of ${session.profile.name}`;
  const picked = await vscode.window.showOpenDialog({
    title,
    canSelectFolders: true,
    canSelectFiles: true,
    openLabel: 'Copy',
  });
  const from = picked?.[0]?.fsPath;
  if (from === undefined) return;
  const to = await vscode.window.showInputBox({
    title,
    prompt: 'Where to, on each node. ~/ is its home folder',
    value: `~/${from.split(/[/\\]/).at(-1) ?? 'data'}`,
    ignoreFocusOut: true,
  });
  if (to === undefined) return;
  const files = await withProgress(`Copying ${from}`, (progress) =>
    machine.copy(machine.nodes, from, nodePath(to), progress),
  );
  void vscode.window.showInformationMessage(
    `${plural(files, 'file')} copied to ${to} on ${plural(machine.nodes.length, 'node')}.`,
  );
}

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
  const tunnel = await withProgress(`Opening tunnel ${text}`, ({ signal }) => {
    if (!session.tunnels) {
      const hint = { kind: 'connectAgain', profile: session.profile.name } as const;
      throw new UserError('connection', 'the cluster was disconnected', hint);
    }
    return session.tunnels.open(spec, signal);
  });
  await rememberTunnel(ui.services.context.globalState, session.profile.name, tunnelText(spec));
  await ui.clusters.refresh();
  const { local, port, remote } = tunnel.forward;
  const taken = port === spec.local ? '' : ` (${spec.local} is taken)`;
  const open = 'Open in Browser';
  void vscode.window.showInformationMessage(`${local} leads to ${remote}${taken}.`, open).then((answer) => {
    if (answer === open) void vscode.env.openExternal(vscode.Uri.parse(`http://${local}/`));
  });
}

export async function closeTunnel(ui: Ui, given?: TunnelArgument): Promise<void> {
  const backend = await ui.services.backend();
  const all = (await backend.clusters.list()).flatMap((session) =>
    (session.tunnels?.all ?? []).map((tunnel) => ({ session, tunnel, label: tunnelText(tunnel.spec) })),
  );
  const chosen = given
    ? all.find(({ session, label }) => session.profile.name === given.profile && label === given.tunnel)
    : await vscode.window.showQuickPick(
        all.map((each) => ({ ...each, description: each.session.profile.name })),
        { title: 'Close Tunnel' },
      );
  if (!chosen) return;
  chosen.session.tunnels?.close(chosen.tunnel);
  await forgetTunnel(ui.services.context.globalState, chosen.session.profile.name, chosen.label);
  await ui.clusters.refresh();
}

/**
 * Those that were open when the profile was connected last. One that fails is said, and does not
 * end the others.
 */
export async function reopenTunnels(ui: Ui, session: ClusterSession): Promise<void> {
  const { name } = session.profile;
  for (const text of rememberedTunnels(ui.services.context.globalState, name)) {
    try {
      await session.tunnels?.open(parseTunnel(text));
    } catch (error) {
      ui.services.logger.log('warn', `tunnel ${text} of ${name}: ${errorWords(error)}`);
    }
  }
}
