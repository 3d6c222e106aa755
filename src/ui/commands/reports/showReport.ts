// Where the files of a report are, and whether a measurement that was ended goes on.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { systemCode, UserError } from '../../../core/base/errors.js';
import { errorWords } from '../../remedies.js';
import { showFolder } from '../showFolder.js';
import type { Ui } from '../ui.js';

type ReportKind = 'bakeoff' | 'scaling';

/** A new folder of this machine for the report of a profile. */
export function reportFolder({ reports }: Ui, kind: ReportKind, profile: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return join(reports.folder, `${kind}-${profile}-${time}`);
}

/** A measurement in its folder. */
export interface Found<T> {
  folder: string;
  record: T;
}

/**
 * The newest one for which `open` has a record. `open` may reject with a UserError where a file is
 * damaged: the log names it.
 */
export async function findReport<T>(
  { services, reports }: Ui,
  kind: ReportKind,
  profile: string,
  open: (folder: string) => Promise<T | undefined>,
): Promise<Found<T> | undefined> {
  const names = await foldersIn(reports.folder);
  const ours = names.filter((name) => name.startsWith(`${kind}-${profile}-`));
  for (const name of ours.sort().reverse()) {
    const folder = join(reports.folder, name);
    try {
      const record = await open(folder);
      if (record !== undefined) return { folder, record };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      services.logger.log('warn', errorWords(error));
    }
  }
  return undefined;
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []; // nothing was measured yet
    throw error;
  }
}

/** `kept` says what of the measurement is kept. Undefined where the question was given up. */
export async function askGoOn(title: string, kept: string): Promise<boolean | undefined> {
  const goOn = { label: 'Go On', detail: `It was ended before its time: ${kept}` };
  const anew = { label: 'Begin Anew', detail: 'What was measured stays in its folder' };
  const answer = await vscode.window.showQuickPick([goOn, anew], { title, ignoreFocusOut: true });
  return answer === undefined ? undefined : answer === goOn;
}

/** Resolves with which of the further buttons was pressed, if any was. */
export async function offerFolder(
  text: string,
  folder: string,
  buttons: readonly string[] = [],
): Promise<string | undefined> {
  const open = 'Open Folder';
  const answer = await vscode.window.showInformationMessage(text, ...buttons, open);
  if (answer !== open) return answer;
  await showFolder(folder);
  return undefined;
}
