// What the nodes of a run that has started may make it suffer from.
import * as vscode from 'vscode';
import type { CheckResult } from '../../../core/base/checks.js';
import { adviceText } from '../../remedies.js';
import type { Services } from '../../services.js';

/** Of the workspace's state: for each profile what was shown last. */
const shownKey = 'startWarnings';

/**
 * Logs each warning, and shows a notification that leads to the check's page. The same warnings of
 * a profile are shown once in a workspace. Resolves when the notification is gone.
 */
export async function tellWarnings(
  services: Services,
  profile: string,
  warnings: readonly CheckResult[] = [],
): Promise<void> {
  const [first] = warnings;
  const texts = warnings.map(warningText);
  for (const text of texts) services.logger.log('warn', `${profile}: ${text}`);
  const { workspaceState } = services.context;
  const shown = workspaceState.get<Record<string, string>>(shownKey, {});
  const now = warnings.map(({ host, name }) => `${host ?? ''} ${name}`).join('\n');
  if ((shown[profile] ?? '') === now) return;
  await workspaceState.update(shownKey, { ...shown, [profile]: now });
  if (!first) return;
  const more = warnings.length > 1 ? ` ${warnings.length - 1} more on the page of the check.` : '';
  const check = 'Check Profile';
  const text = `The run has started, and may suffer: ${warningText(first)}.${more}`;
  const answer = await vscode.window.showWarningMessage(text, check);
  if (answer === check) await vscode.commands.executeCommand('trainyard.checkProfile', { profile });
}

/** `gpu3, MTU: 1400, most have 1500. Give all nodes one MTU`. */
export function warningText({ host, name, detail, hint }: CheckResult): string {
  const advice = adviceText(hint);
  return `${host === undefined ? '' : `${host}, `}${name}: ${detail}${advice && `. ${advice}`}`;
}
