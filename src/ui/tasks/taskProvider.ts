// Tasks of type `trainyard`: a run whose output is in a terminal of the editor.
import * as vscode from 'vscode';
import { taskType } from '../../contributions.js';
import type { Ui } from '../commands/ui.js';
import { loadLazy } from '../loadLazy.js';

/** No task is invented: a task is one of the user's tasks.json. */
export function registerTasks(ui: Ui): vscode.Disposable {
  return vscode.tasks.registerTaskProvider(taskType, {
    provideTasks: () => [],
    resolveTask: ({ definition, scope, name }) => {
      const execution = new vscode.CustomExecution(async (resolved) => {
        const { TaskTerminal } = await (await loadLazy()).parts.taskTerminal();
        return new TaskTerminal(ui, resolved, folderOf(scope));
      });
      return new vscode.Task(definition, scope ?? vscode.TaskScope.Workspace, name, 'Trainyard', execution);
    },
  });
}

/** Where its program starts, where the task does not say. */
function folderOf(scope: vscode.Task['scope']): string {
  const own = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
  return own?.uri.scheme === 'file' ? own.uri.fsPath : '/';
}
