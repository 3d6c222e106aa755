// Save as Preset, of the run form.
import * as vscode from 'vscode';
import { workspacePlace } from '../../core/presets/workspacePlace.js';
import { presetOf } from '../../core/presets/presetRun.js';
import type { FormSession } from './formSession.js';

/** UserError (usage) for a name or a file of presets that is not right. */
export async function savePreset(session: FormSession): Promise<void> {
  const { presets, values } = session;
  const asked = session.asked('Nothing was saved');
  if (!asked || !presets.file) return;
  const title = 'Save as Preset';
  const prompt = `A name for it in ${workspacePlace}`;
  const name = (await vscode.window.showInputBox({ title, prompt, value: values.name }))?.trim();
  if (name === undefined || name === '') return;
  if ((await presets.file.presets()).some((other) => other.name === name)) {
    const question = `There is a preset ${name}. Replace it?`;
    const answer = await vscode.window.showWarningMessage(question, { modal: true }, 'Replace');
    if (answer === undefined) return;
  }
  await presets.file.savePreset(presetOf(name, asked));
  await presets.read();
  session.say(`Saved as ${name} in ${workspacePlace}.`);
}
