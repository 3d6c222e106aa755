// A command line that can be edited, with the trainer's flags offered as one types.
import * as vscode from 'vscode';
import { lineProblem } from '../../../core/plan/request/flagCheck.js';
import { suggestions } from '../../../core/plan/request/suggest.js';
import type { TrainerFlag } from '../../../core/plan/request/trainerHelp.js';
import { isPath, type Folders } from './folders.js';

interface Item extends vscode.QuickPickItem {
  /** What takes the place of the line's last word. Undefined: this is the line itself. */
  word?: string;
}

/**
 * Resolves with the line, or undefined when it was given up. `accept`: what taking the line does.
 * `flags` may come later than the box. A line with a wrong flag is not taken: the box stays, and
 * says what is wrong.
 */
export function editCommandLine(
  title: string,
  initial: string,
  flags: Promise<readonly TrainerFlag[]>,
  folders: Folders,
  accept = 'Start',
): Promise<string | undefined> {
  const box = vscode.window.createQuickPick<Item>();
  let known: readonly TrainerFlag[] = [];
  /** Why the line was not taken as it stands. */
  let refused: string | undefined;
  const render = (): void => {
    const last = box.value.split(/\s+/).at(-1) ?? '';
    const below = isPath(last) ? folders.completions(last, render) : [];
    const offered = suggestions(box.value, known).slice(0, 60);
    box.items = [
      ...(refused === undefined ? [] : [{ label: `$(error) ${refused}`, alwaysShow: true }]),
      { label: `$(play) ${accept}`, description: box.value, alwaysShow: true },
      ...offered.map(({ word, value, help }) => ({
        label: word,
        description: value,
        detail: help,
        alwaysShow: true,
        word: `${word} `,
      })),
      ...below.map((path) => ({ label: `$(folder) ${path}`, alwaysShow: true, word: path })),
    ];
  };
  box.title = title;
  box.placeholder = 'train --model resnet20 --data FOLDER --epochs 10';
  box.ignoreFocusOut = true;
  return new Promise((resolve, reject) => {
    box.onDidChangeValue(() => {
      refused = undefined;
      render();
    });
    box.onDidAccept(() => {
      const word = box.activeItems[0]?.word;
      if (word === undefined) {
        refused = lineProblem(box.value, known);
        if (refused !== undefined) {
          render();
          return;
        }
        resolve(box.value);
        box.hide();
        return;
      }
      const words = box.value.split(/\s+/).slice(0, -1);
      box.value = [...words, word].join(' ').trimStart();
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
    box.value = initial; // not before: what stands there when a box opens is selected, and typing would replace it
    render();
  });
}
