// A name for a profile.
import * as vscode from 'vscode';
import { check, problemsText } from '../../../core/base/validation.js';
import { profileSchema } from '../../../core/contracts/profileSchema.js';
import type { Ui } from '../ui.js';

export async function askName(
  ui: Ui,
  title: string,
  value: string,
  prompt = 'A name for the profile',
): Promise<string | undefined> {
  const taken = (await (await ui.services.backend()).profiles().list()).map(({ name }) => name);
  return vscode.window.showInputBox({
    title,
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: (name) => {
      if (taken.includes(name)) return `There is a profile named ${name} already.`;
      const result = check(profileSchema, { name, kind: 'local' });
      return result.ok ? undefined : problemsText(result.problems);
    },
  });
}
