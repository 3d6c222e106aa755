// `vscode://trainyard.trainyard/demo`, which the demo script opens: the demo's training starts and its dashboard opens.
import * as vscode from 'vscode';
import type { CommandId } from '../contributions.js';

export class DemoLink implements vscode.Disposable {
  private readonly subscription = vscode.window.registerUriHandler({
    handleUri: async ({ path }) => {
      const command: CommandId = 'trainyard.runDemo';
      if (path !== '/demo') return;
      // Any page can open such a link, so it does nothing before its user agreed.
      const answer = await vscode.window.showInformationMessage(
        'Train a small network on images drawn on this machine?',
        { modal: true },
        'Train',
      );
      if (answer === 'Train') await vscode.commands.executeCommand(command);
    },
  });

  dispose(): void {
    this.subscription.dispose();
  }
}
