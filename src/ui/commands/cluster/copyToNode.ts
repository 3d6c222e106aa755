// Copy to Node: files and folders of this machine, chosen or dropped on the Clusters view.
import * as vscode from 'vscode';
import type { CopyArgument, FileArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { nodePath, type NodePath } from '../../../core/base/nodePath.js';
import { namesThere, putInto } from '../../../core/cluster/nodes/putInto.js';
import type { SshMachine } from '../../../core/cluster/sshMachine.js';
import type { SshNode } from '../../../core/cluster/nodes/sshNode.js';
import { plural } from '../../figureText.js';
import { withProgress } from '../progress.js';
import { dialogStart } from '../../workspace/workspace.js';
import type { Ui } from '../ui.js';
import { pickCluster } from './pickCluster.js';

export async function copyToNode(ui: Ui, given: CopyArgument = {}): Promise<void> {
  const profile = given.profile === undefined ? undefined : { profile: given.profile };
  const dropped = given.files && pathsOf(given.files);
  const cluster = await pickCluster(ui, profile, 'Copy to Node');
  if (!cluster) return;
  const { machine, session } = cluster;
  const nodes = await nodesOf(machine, given, session.profile.name);
  if (!nodes) return;
  const where = nodes.length === 1 ? (nodes[0]?.name ?? '') : `${nodes.length} nodes`;
  const title = `Copy to ${where}`;
  const sources = dropped ?? (await askFiles(title));
  if (sources.length === 0) return;
  const folder = await askFolder(title, sources, where);
  if (folder === undefined) return;
  const there = await namesThere(nodes, sources, folder);
  if (there.length > 0 && !(await mayReplace(there, folder, where))) return;
  const context = { profile: session.profile, logger: ui.services.logger };
  const what = sources.length === 1 ? nameOf(sources[0] ?? '') : plural(sources.length, 'item');
  const files = await withProgress(`Copying ${what} to ${where}`, (progress) =>
    putInto(context, nodes, sources, folder, progress),
  );
  void vscode.window.showInformationMessage(`${plural(files, 'file')} copied to ${folder} on ${where}.`);
}

/** UserError (usage) for what is no file of this machine. */
function pathsOf(files: readonly FileArgument[]): string[] {
  const other = files.find(({ scheme }) => scheme !== 'file');
  if (!other) return files.map(({ fsPath }) => fsPath);
  const what = `${nameOf(other.fsPath)} is no file of this machine, but of ${other.scheme}`;
  throw new UserError('usage', what, 'Save it in a folder of this machine, and copy that file');
}

/** All of a profile whose row got the files; else the one that is named, or chosen. */
async function nodesOf(
  machine: SshMachine,
  { host, profile, files }: CopyArgument,
  name: string,
): Promise<readonly SshNode[] | undefined> {
  if (host !== undefined) return machine.select([host]);
  if (machine.nodes.length === 1 || (profile !== undefined && files)) return machine.nodes;
  const all = { label: `All ${machine.nodes.length} nodes of ${name}`, nodes: machine.nodes };
  const single = machine.nodes.map((node) => ({ label: node.name, nodes: [node] }));
  const options = { title: 'Copy to Node', placeHolder: 'To which node?' };
  return (await vscode.window.showQuickPick([...single, all], options))?.nodes;
}

async function askFiles(title: string): Promise<string[]> {
  const options = { title, canSelectFolders: true, canSelectFiles: true, canSelectMany: true };
  const picked = await vscode.window.showOpenDialog({ ...options, openLabel: 'Copy', ...dialogStart() });
  return (picked ?? []).map(({ fsPath }) => fsPath);
}

/** In which folder of the nodes these shall lie; `where` says which nodes, for people. */
export async function askFolder(
  title: string,
  sources: readonly string[],
  where: string,
): Promise<NodePath | undefined> {
  const names = sources.map(nameOf).join(', ');
  const answer = await vscode.window.showInputBox({
    title,
    prompt: `In which folder of ${where} shall ${names} lie? ~ is your home folder there`,
    value: '~',
    ignoreFocusOut: true,
    validateInput: (text) =>
      /^(?:~$|~\/|\/)/.test(text.trim()) ? undefined : 'Begin with / or with ~/, the home folder',
  });
  return answer === undefined ? undefined : nodePath(answer.trim());
}

export async function mayReplace(names: readonly string[], folder: string, where: string): Promise<boolean> {
  const detail = 'Files of the same name are replaced, each one whole. Other files stay.';
  const message = `${names.join(', ')}: already in ${folder} on ${where}. Copy over it?`;
  const replace = 'Replace';
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, replace)) === replace;
}

const nameOf = (path: string): string =>
  path
    .split(/[/\\]/)
    .filter((part) => part !== '')
    .at(-1) ?? path;
