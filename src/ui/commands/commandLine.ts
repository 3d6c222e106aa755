// A command line that can be edited, with the trainer's flags offered as one types.
import * as vscode from 'vscode';
import { completions, type TrainerFlag } from '../../core/runs/trainerHelp.js';

interface Item extends vscode.QuickPickItem {
  /** Undefined: this is the line itself. */
  flag?: TrainerFlag;
}

/** Resolves with the line, or undefined when it was given up. `flags` may come later than the box. */
export function editCommandLine(
  title: string,
  initial: string,
  flags: Promise<readonly TrainerFlag[]>,
): Promise<string | undefined> {
  const box = vscode.window.createQuickPick<Item>();
  let known: readonly TrainerFlag[] = [];
  const render = (): void => {
    const offered = completions(box.value, known).slice(0, 40);
    box.items = [
      { label: '$(play) Start', description: box.value, alwaysShow: true },
      ...offered.map((flag) => ({
        label: flag.name,
        description: [flag.value ?? '', flag.initial === undefined ? '' : `default ${flag.initial}`]
          .join('  ')
          .trim(),
        detail: flag.help,
        alwaysShow: true,
        flag,
      })),
    ];
  };
  box.title = title;
  box.placeholder = 'train --model resnet20 --data FOLDER --epochs 10';
  box.value = initial;
  box.ignoreFocusOut = true;
  render();
  return new Promise((resolve, reject) => {
    box.onDidChangeValue(render);
    box.onDidAccept(() => {
      const flag = box.activeItems[0]?.flag;
      if (!flag) {
        resolve(box.value);
        box.hide();
        return;
      }
      const words = box.value.split(/\s+/).slice(0, -1);
      box.value = [...words, flag.name, ''].join(' ').trimStart();
      render();
    });
    box.onDidHide(() => {
      box.dispose();
      resolve(undefined);
    });
    flags.then((found) => {
      known = found;
      render();
    }, reject);
    box.show();
  });
}
