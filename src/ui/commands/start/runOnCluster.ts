// Run on Cluster: a file of the workspace as an own program.
import { existsSync } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import * as vscode from 'vscode';
import type { FileArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { fileWords, languageOf, perOf, spreadsOf, type Spread } from '../../../core/plan/runFile.js';
import { joinWords, splitWords } from '../../../core/plan/request/argv.js';
import { chosenPython, usualPython } from '../../pythonInterpreter.js';
import { lastProfile } from '../../recentRuns.js';
import { rememberedFile, rememberedProfile, rememberFile } from '../../remembered/rememberedFiles.js';
import { describeProfile } from '../../tree/describe.js';
import { orderedProfiles } from '../profileOrder.js';
import type { Ui } from '../ui.js';
import { askPackages, packagesFor } from './askPackages.js';
import { startRun } from './startRun.js';

const title = 'Run on Cluster';

export async function runOnCluster(ui: Ui, given?: FileArgument): Promise<void> {
  const path = await pathOf(given);
  if (path === undefined) return;
  const memory = ui.services.context.workspaceState;
  const session = await askProfile(ui, rememberedProfile(memory));
  if (!session) return;
  const { profile } = session;
  const place = placeOf(path);
  const before = rememberedFile(memory, path);
  const spread = await askSpread(path, profile, before?.spread);
  if (spread === undefined) return;
  const line = await askArguments(path, before?.line ?? '');
  if (line === undefined) return;
  const args = splitWords(line);
  const isHere = profile.kind === 'local';
  const found = isHere ? [] : packagesFor(path, place.folder);
  const packages = found.length === 0 ? undefined : await askPackages(title, found, before?.packages);
  if (found.length > 0 && packages === undefined) return;
  const python = isHere ? await chosenPython(ui.services, vscode.Uri.file(path)) : usualPython;
  const words = fileWords({ file: place.file, args, spread, python });
  await rememberFile(memory, path, profile.name, {
    ...{ spread, line: joinWords(args) },
    ...(packages === undefined ? {} : { packages: packages && basename(packages) }),
  });
  await startRun(ui, {
    profile: profile.name,
    words,
    ...(isHere ? { cwd: place.folder } : { codeFolder: place.folder }),
    ...(typeof packages === 'string' ? { requirements: packages } : {}),
    label: basename(path),
    ...perOf(spread),
  });
}

/** The given file, else that of the editor in front, else one of the workspace; saved. UserError. */
async function pathOf(given: FileArgument | undefined): Promise<string | undefined> {
  const front = vscode.window.activeTextEditor?.document.uri;
  const isProgram = front !== undefined && languageOf(front.path) !== undefined;
  const file = given ?? (isProgram ? front : await askFile());
  if (file === undefined) return undefined;
  const { scheme, fsPath } = file;
  if (scheme !== 'file') {
    const hint = 'Save it in a folder of this machine first';
    throw new UserError('usage', `${fsPath} is no file of this machine`, hint);
  }
  if (languageOf(fsPath) === undefined) {
    const hint = 'Choose a file whose name ends in .py or .sh';
    throw new UserError('usage', `${fsPath} is neither a Python file nor a shell script`, hint);
  }
  const open = vscode.workspace.textDocuments.find(
    ({ uri }) => uri.scheme === 'file' && uri.fsPath === fsPath,
  );
  if (open?.isDirty === true && !(await open.save())) {
    throw new UserError('usage', `${fsPath} could not be saved`, 'Save it, then run it');
  }
  if (!existsSync(fsPath)) {
    throw new UserError('usage', `there is no file ${fsPath}`, 'Choose another one, or save this one first');
  }
  return fsPath;
}

const notPrograms = '**/{node_modules,site-packages,__pycache__,.*}/**';
const mostFiles = 500;

async function askFile(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles('**/*.{py,sh}', notPrograms, mostFiles);
  if (found.length === 0) {
    const what = 'there is no Python file and no shell script in this workspace';
    throw new UserError('usage', what, 'Open the folder that your program is in');
  }
  const items = found
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
    .sort((a, b) => a.label.localeCompare(b.label));
  return (
    await vscode.window.showQuickPick(items, { title, placeHolder: 'Which file?', ignoreFocusOut: true })
  )?.uri;
}

/** The one of the last time is offered first. */
async function askProfile(ui: Ui, last: string | undefined): Promise<ClusterSession | undefined> {
  const sessions = await (await ui.services.backend()).clusters.list();
  const items = orderedProfiles(sessions, [last, lastProfile(ui.services)]).map((session) => {
    const { label, description } = describeProfile(session.profile, session.state);
    return { label, description, session };
  });
  if (items.length === 1) return items[0]?.session;
  const asked = { title, placeHolder: 'Where to run it?', ignoreFocusOut: true };
  return (await vscode.window.showQuickPick(items, asked))?.session;
}

/**
 * Where it starts: in the workspace folder that it lies in, else in its own. That folder goes along
 * to the nodes of other machines.
 */
function placeOf(path: string): { folder: string; file: string } {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(path))?.uri.fsPath ?? dirname(path);
  return { folder, file: relative(folder, path).split(sep).join('/') };
}

async function askSpread(
  path: string,
  profile: Profile,
  last: Spread | undefined,
): Promise<Spread | undefined> {
  const all: Record<Spread, { label: string; description: string }> = {
    one: { label: '$(play) Once', description: 'one process' },
    perSlot: {
      label: '$(layers) Once for Each Slot',
      description: `as many processes as profile ${profile.name} has slots`,
    },
    torchrun: {
      label: '$(rocket) By torchrun',
      description: "PyTorch's launcher, one on each node, starts the processes",
    },
  };
  const items = spreadsOf(path)
    .map((spread) => ({ ...all[spread], spread }))
    .sort((a, b) => Number(b.spread === last) - Number(a.spread === last));
  const placeHolder = `How to start ${basename(path)}?`;
  return (await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true }))?.spread;
}

function askArguments(path: string, last: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title,
    prompt: `Arguments of ${basename(path)}; none is fine`,
    placeHolder: '--epochs 10 --data "/data/my images"',
    value: last,
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        splitWords(text);
        return undefined;
      } catch (error) {
        return error instanceof UserError ? error.message : String(error);
      }
    },
  });
}
