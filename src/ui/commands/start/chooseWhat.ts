// What Run Training runs: choices, from recent runs to an own command.
import * as vscode from 'vscode';
import { proposedModels, proposeTraining } from '../../../core/plan/proposal.js';
import { dataFlags } from '../../../core/cluster/dataFlags.js';
import { joinWords } from '../../../core/plan/request/argv.js';
import { presetRun } from '../../../core/presets/presetRun.js';
import { recentRuns, type RecentRun } from '../../recentRuns.js';
import { errorWords } from '../../remedies.js';
import { dialogStart, fileOfWorkspace } from '../../workspace/workspace.js';
import type { Ui } from '../ui.js';
import { workspaceImages } from './chooseData.js';
import { browse, Folders } from './folders.js';
import { startOf } from './startAsked.js';
import type { StartOptions } from './startRun.js';

/** What was chosen. A preset says more than the command line. */
export interface Chosen {
  recent: RecentRun;
  how?: StartOptions;
}

type What = vscode.QuickPickItem & { run?: () => Promise<Chosen | undefined> };

/** UserError for a preset that is not right. */
export async function chooseWhat(ui: Ui, profile: string): Promise<Chosen | undefined> {
  const separator = (label: string): What => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const recent = recentRuns(ui.services)
    .filter((run) => run.profile === profile)
    .map((run): What => ({
      label: `$(history) ${joinWords(run.words)}`,
      run: () => Promise.resolve({ recent: run }),
    }));
  const presets = await presetItems(profile);
  const machine = await (await ui.services.backend()).machine(profile);
  const isHere = machine.shell === undefined;
  const workspace = isHere ? workspaceImages() : undefined;
  const items: What[] = [
    ...(presets.length > 0 ? [separator('presets of this workspace'), ...presets] : []),
    ...(recent.length > 0 ? [separator('recent'), ...recent] : []),
    separator('new'),
    ...(workspace === undefined
      ? []
      : [
          {
            label: '$(folder-library) Images in this workspace',
            description: workspace,
            run: async () => withModel(profile, await dataFlags(machine, workspace)),
          },
        ]),
    {
      label: '$(folder-opened) Folder of images…',
      description: 'one folder a class, or train/ and validation/',
      run: async () => {
        const folder = await (isHere
          ? chooseFolder()
          : browse('Run Training: folder of images', new Folders(machine)));
        return folder === undefined ? undefined : withModel(profile, await dataFlags(machine, folder));
      },
    },
    {
      label: '$(beaker) Synthetic images',
      description: 'made up on the fly, to try the machine',
      run: () => withModel(profile, ['--data', 'synthetic']),
    },
    {
      label: '$(terminal) Own command…',
      description: 'torchrun, a script, any program',
      run: () => Promise.resolve({ recent: { profile, words: [] } }),
    },
  ];
  const choice = await vscode.window.showQuickPick(items, {
    title: 'Run Training: what',
    placeHolder: 'What to run?',
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  return choice?.run?.();
}

/** Those of the profile, and those that name none; or what is wrong with their file. */
async function presetItems(profile: string): Promise<What[]> {
  try {
    const presets = (await fileOfWorkspace()?.presets()) ?? [];
    return presets
      .filter((preset) => preset.profile === undefined || preset.profile === profile)
      .map((preset) => ({
        label: `$(bookmark) ${preset.name}`,
        description: preset.command,
        run: () => Promise.resolve(startOf(presetRun(preset, profile))),
      }));
  } catch (error) {
    const label = '$(warning) The presets of this workspace cannot be used';
    const fail = (): never => {
      throw error;
    };
    return [{ label, description: errorWords(error), run: fail }];
  }
}

async function withModel(profile: string, data: readonly string[]): Promise<Chosen | undefined> {
  const model = await vscode.window.showQuickPick(proposedModels, {
    title: 'Run Training: model',
    placeHolder: 'Which model?',
    ignoreFocusOut: true,
  });
  return model && { recent: { profile, words: proposeTraining(model.label, data) } };
}

async function chooseFolder(): Promise<string | undefined> {
  const picked = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: 'Train on This Folder',
    ...dialogStart(),
  });
  return picked?.[0]?.fsPath;
}
