// Files and folders that are dropped on a row of the Clusters view: on a node, on one of its GPUs,
// or on a profile, which means all of its nodes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { CommandId, CopyArgument, FileArgument, ProfileArgument } from '../../contributions.js';
import { errorWords } from '../remedies.js';

/** What the explorer gives, and other programs by way of the editor. */
const uriList = 'text/uri-list';
const command: CommandId = 'trainyard.copyToNode';

/** A row: of a profile, or of something on a host. */
type Target = ProfileArgument & { host?: string };

export class DropFiles implements vscode.TreeDragAndDropController<Target> {
  readonly dragMimeTypes: readonly string[] = [];
  readonly dropMimeTypes = [uriList, 'files'];

  async handleDrop(target: Target | undefined, data: vscode.DataTransfer): Promise<void> {
    const named = await urisOf(data);
    const loose = named.length > 0 ? [] : filesOf(data);
    if (named.length > 0) await copy(target, named);
    else if (loose.length > 0) await copyLoose(target, loose);
    else void vscode.window.showErrorMessage('Nothing that was dropped is a file or a folder.');
  }
}

/** Resolves once the copy is over, or was given up. */
async function copy(target: Target | undefined, files: readonly FileArgument[]): Promise<void> {
  const place = target === undefined ? {} : { profile: target.profile };
  const { host: named = '' } = target ?? {};
  const host = named === '' ? {} : { host: named };
  const given: CopyArgument = { ...place, ...host, files };
  await vscode.commands.executeCommand(command, given);
}

async function urisOf(data: vscode.DataTransfer): Promise<vscode.Uri[]> {
  const text = (await data.get(uriList)?.asString()) ?? '';
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => vscode.Uri.parse(line, true));
}

const filesOf = (data: vscode.DataTransfer): vscode.DataTransferFile[] =>
  [...data].flatMap(([, item]) => item.asFile() ?? []);

/** A browser hands over what is in the files, and not where they lie. */
async function copyLoose(
  target: Target | undefined,
  files: readonly vscode.DataTransferFile[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'trainyard-dropped-'));
  try {
    const paths: vscode.Uri[] = [];
    for (const file of files) {
      const path = join(folder, basename(file.name));
      await writeFile(path, await file.data());
      paths.push(vscode.Uri.file(path));
    }
    await copy(target, paths);
  } catch (error) {
    const words = `What was dropped cannot be read: ${errorWords(error)}. A folder is copied from the explorer.`;
    void vscode.window.showErrorMessage(words);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
