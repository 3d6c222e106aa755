// Filter Runs.
import * as vscode from 'vscode';
import { filterOf } from '../../../core/model/runFilter.js';
import { problemOf } from '../problemOf.js';
import type { Ui } from '../ui.js';

/** An empty line takes the filter away. */
export async function filterRuns({ runs }: Ui): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: 'Filter Runs',
    prompt: 'Words in name, id, tags, notes, profile or command; also status:failed,stopped and tag:baseline',
    placeHolder: 'resnet50 status:failed',
    value: runs.filter,
    validateInput: (line) => problemOf(() => filterOf(line)),
  });
  if (text !== undefined) runs.filter = text;
}
