import * as vscode from 'vscode';
import type { Services } from '../services.js';

export async function openProfiles(services: Services): Promise<void> {
  const path = await (await services.backend()).profilesFile();
  await vscode.window.showTextDocument(vscode.Uri.file(path));
}
