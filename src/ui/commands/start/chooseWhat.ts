// What Run Training runs: choices, from recent runs to an own command.
import * as vscode from 'vscode';
import { proposedModels, proposeTraining } from '../../../core/plan/proposal.js';
import { dataFlags } from '../../../core/cluster/dataFlags.js';
import { joinWords } from '../../../core/plan/words.js';
import { recentRuns } from '../../recentRuns.js';
import type { Ui } from '../ui.js';
import { workspaceImages } from './chooseData.js';
import { browse, Folders } from './folders.js';

type What = vscode.QuickPickItem & { words?: () => Promise<readonly string[] | undefined> };

export async function chooseWhat(ui: Ui, profile: string): Promise<readonly string[] | undefined> {
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
