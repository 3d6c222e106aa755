import * as vscode from 'vscode';
import type { Services } from '../services.js';

export async function openProfiles(services: Services): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(await services.profiles.ensureFile()));
}
