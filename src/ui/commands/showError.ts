// A notification of an error, with a button that does the remedy.
import * as vscode from 'vscode';
import { remedyOf } from '../../core/base/errors.js';
import type { ProfilePlace } from '../../core/base/remedy.js';
import { jumpHosts } from '../../core/ssh/base/jumps.js';
import { editorRemedy, errorWords, showOutput, type ButtonCommand, type RemedyButton } from '../remedies.js';
import type { Ui } from './ui.js';

type Told = Pick<Ui, 'services' | 'showOutput'>;

/**
 * Resolves when the notification is gone, and what its button does is done. `more` is the title of a
 * further button: whether it was pressed.
 */
export async function showError(ui: Told, error: unknown, more?: string): Promise<boolean> {
  const remedy = remedyOf(error);
  const button = remedy && editorRemedy(remedy).button;
  const all = [...(more === undefined ? [] : [more]), ...(button ? [button.title] : []), showOutput];
  const answer = await vscode.window.showErrorMessage(errorWords(error), ...new Set(all));
  if (answer === undefined) return false;
  if (answer === more) return true;
  if (answer === showOutput) ui.showOutput();
  else if (button?.title === answer) await pressRemedy(ui, button);
  return false;
}

/** Does what a remedy's button says. What goes wrong is logged, and the log shown. */
export async function pressRemedy(ui: Told, { title, commands }: RemedyButton): Promise<void> {
  try {
    for (const command of commands) {
      await vscode.commands.executeCommand(command.id, ...(await argumentsOf(ui, command)));
    }
  } catch (error) {
    ui.services.logger.log('error', `${title}: ${errorWords(error)}`);
    ui.showOutput();
  }
}

async function argumentsOf(ui: Told, command: ButtonCommand): Promise<unknown[]> {
  if ('argument' in command) return [command.argument];
  if (!('place' in command)) return [];
  const { place, field } = command;
  const profile = place.profile ?? (await profileOf(ui, place));
  if (profile === undefined) return []; // the command asks which one
  const host = place.host === undefined ? {} : { host: place.host };
  return [{ profile, ...host, ...(field === undefined ? {} : { field }) }];
}

/** The profile that has this host, or goes through it, where only one does. */
async function profileOf({ services }: Told, { host }: ProfilePlace): Promise<string | undefined> {
  if (host === undefined) return undefined;
  const { profiles } = await (await services.backend()).profiles().contents();
  const having = profiles.filter(({ hosts = [] }) =>
    hosts.some((each) => each.host === host || jumpHosts(each.proxyJump).includes(host)),
  );
  return having.length === 1 ? having[0]?.name : undefined;
}
