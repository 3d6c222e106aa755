// The icon of our tabs: an image in a tab cannot follow the theme by itself.
import * as vscode from 'vscode';
import type { Services } from '../services.js';

export function tabIcon({ context }: Services): { light: vscode.Uri; dark: vscode.Uri } {
  const icon = (theme: string): vscode.Uri =>
    vscode.Uri.file(context.asAbsolutePath(`media/tab-${theme}.svg`));
  return { light: icon('light'), dark: icon('dark') };
}
