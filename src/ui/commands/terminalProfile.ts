// A terminal on a node, as the editor's own list of terminals offers it.
import * as vscode from 'vscode';
import { terminalProfileId } from '../../contributions.js';
import { isCancelled } from '../../core/base/errors.js';
import { showError } from './showError.js';
import type { Ui } from './ui.js';
import { loadLazy } from '../loadLazy.js';

/** No terminal is made where no node was chosen, or reached: that is said. */
export function registerTerminalProfile(ui: Ui): vscode.Disposable {
  return vscode.window.registerTerminalProfileProvider(terminalProfileId, {
    provideTerminalProfile: async () => {
      try {
        const { nodeTerminal } = await (await loadLazy()).commands.cluster();
        const options = await nodeTerminal(ui);
        return options && new vscode.TerminalProfile(options);
      } catch (error) {
        if (!isCancelled(error)) void showError(ui, error);
        return undefined;
      }
    },
  });
}
