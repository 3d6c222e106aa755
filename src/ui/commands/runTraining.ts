// Run Training: where, what, the command line, go. And the quick ways: again, the same as another
// run, the demo.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ProfileArgument, RunArgument, RunWords } from '../../contributions.js';
import { UserError } from '../../core/base/errors.js';
import type { Machine } from '../../core/cluster/machine.js';
import { nodePath } from '../../core/base/nodePath.js';
import { demoTraining, prepareDemoData } from '../../core/plan/demo.js';
import { proposedModels, proposeTraining } from '../../core/plan/proposal.js';
import { typedOf } from '../../core/plan/request.js';
import type { TrainerFlag } from '../../core/plan/trainerHelp.js';
import { joinWords, splitWords } from '../../core/plan/words.js';
import { editCommandLine } from './commandLine.js';
import { browse, Folders } from './folders.js';
import { pickProfile, pickRun } from './pick.js';
import { withProgress } from './progress.js';
import { recentRuns, type RecentRun } from '../recentRuns.js';
import { startRun } from './startRun.js';
import type { Ui } from './ui.js';
import { errorWords } from '../remedies.js';

export async function runTraining(ui: Ui, given?: RunWords | ProfileArgument): Promise<void> {
  if (given && 'words' in given) {
    const { words, ranks, profile = 'local' } = given;
    await startRun(ui, { profile, words, ...(ranks === undefined ? {} : { ranks }) });
    return;
  }
  const target = given?.profile === undefined ? undefined : { profile: given.profile };
  const session = await pickProfile(ui, target, 'Run Training');
  if (!session) return;
  const profile = session.profile.name;
  const words = await chooseWhat(ui, profile);
  if (words) await editAndStart(ui, { profile, words });
}

/** The same command line on the same profile as the last time. */
export async function runAgain(ui: Ui): Promise<void> {
  const [last] = recentRuns(ui.services);
  if (!last) throw new UserError('usage', 'nothing was run yet', { kind: 'startRun' });
  await startRun(ui, last);
}

/** A new run with the command line of another one, which may be changed first. */
export async function cloneRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Clone Run');
  if (!run) return;
  const backend = await ui.services.backend();
  const machine = await backend.machine(run.profile);
  const details = await (await machine.node.client()).request('run.get', { dir: run.dir });
  if (!details.run) {
    throw new UserError('usage', `${run.id} has no run.json that can be read`, 'Choose another run');
  }
  const { words, ranks } = typedOf(details.run);
  await editAndStart(ui, { profile: run.profile, words, ranks });
}

/** Draws images where there are none yet, and trains a small network on them. */
export async function runDemo(ui: Ui): Promise<void> {
  const machine = await (await ui.services.backend()).machine('local');
  const data = await withProgress('Trainyard demo', (progress) => prepareDemoData(machine, progress));
  await startRun(ui, { profile: 'local', words: demoTraining(data), name: 'demo' });
}

async function editAndStart(ui: Ui, recent: RecentRun): Promise<void> {
  const ranks = recent.ranks === undefined ? '' : `, ${recent.ranks} ranks`;
  const line = await editCommandLine(
    `Run on ${recent.profile}${ranks}`,
    joinWords(recent.words),
    trainerFlags(ui, recent.profile),
    new Folders(await (await ui.services.backend()).machine(recent.profile)),
  );
  if (line === undefined) return;
  await startRun(ui, { ...recent, words: splitWords(line) });
}

/** Without them the line can still be typed, so what went wrong is only logged. */
async function trainerFlags({ services }: Ui, profile: string): Promise<readonly TrainerFlag[]> {
  try {
    return await (await (await services.backend()).machine(profile)).trainerFlags('train');
  } catch (error) {
    services.logger.log('info', `no completion of flags: ${errorWords(error)}`);
    return [];
  }
}

type What = vscode.QuickPickItem & { words?: () => Promise<readonly string[] | undefined> };

async function chooseWhat(ui: Ui, profile: string): Promise<readonly string[] | undefined> {
  const separator = (label: string): What => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const recent = recentRuns(ui.services)
    .filter((run) => run.profile === profile)
    .map((run): What => ({
      label: `$(history) ${joinWords(run.words)}`,
      words: () => Promise.resolve(run.words),
    }));
  const machine = await (await ui.services.backend()).machine(profile);
  const isHere = machine.shell === undefined;
  const workspace = isHere ? workspaceImages() : undefined;
  const items: What[] = [
    ...(recent.length > 0 ? [separator('recent'), ...recent] : []),
    separator('new'),
    ...(workspace === undefined
      ? []
      : [
          {
            label: '$(folder-library) Images in this workspace',
            description: workspace,
            words: async () => withModel(await dataFlags(machine, workspace)),
          },
        ]),
    {
      label: '$(folder-opened) Folder of images…',
      description: 'one folder a class, or train/ and validation/',
      words: async () => {
        const folder = await (isHere
          ? chooseFolder()
          : browse('Run Training: folder of images', new Folders(machine)));
        return folder === undefined ? undefined : withModel(await dataFlags(machine, folder));
      },
    },
    {
      label: '$(beaker) Synthetic images',
      description: 'made up on the fly, to try the machine',
      words: () => withModel(['--data', 'synthetic']),
    },
    {
      label: '$(terminal) Own command…',
      description: 'torchrun, a script, any program',
      words: () => Promise.resolve([]),
    },
  ];
  const choice = await vscode.window.showQuickPick(items, {
    title: 'Run Training: what',
    placeHolder: 'What to run?',
    matchOnDescription: true,
  });
  return choice?.words?.();
}

async function withModel(data: readonly string[]): Promise<readonly string[] | undefined> {
  const model = await vscode.window.showQuickPick(proposedModels, {
    title: 'Run Training: model',
    placeHolder: 'Which model?',
  });
  return model && proposeTraining(model.label, data);
}

async function chooseFolder(): Promise<string | undefined> {
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
  const picked = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: 'Train on This Folder',
    ...(workspace === undefined ? {} : { defaultUri: workspace }),
  });
  return picked?.[0]?.fsPath;
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/**
 * The workspace, when it holds images apart for training; only when it is trusted, because it
 * suggests what to run.
 */
function workspaceImages(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!vscode.workspace.isTrusted || folder?.scheme !== 'file') return undefined;
  return isFolder(join(folder.fsPath, 'train')) ? folder.fsPath : undefined;
}

/** `--data …` and, where the folder has them apart, `--eval-data …`. */
async function dataFlags(machine: Machine, folder: string): Promise<string[]> {
  const { folders } = await machine.list(nodePath(folder));
  if (!folders.includes('train')) return ['--data', folder];
  const validation = ['validation', 'val', 'test'].find((name) => folders.includes(name));
  const below = (name: string): string => `${folder.replace(/\/$/, '')}/${name}`;
  return ['--data', below('train'), ...(validation === undefined ? [] : ['--eval-data', below(validation)])];
}
