// Where the files of a report are, and whether a measurement that was ended goes on.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { systemCode, UserError } from '../../../core/base/errors.js';
import { isReportKind, type RunReport } from '../../../core/model/measured.js';
import { errorWords } from '../../remedies.js';
import { showFolder } from '../showFolder.js';
import type { Ui } from '../ui.js';

type ReportKind = RunReport['kind'];

/** A new folder of this machine for the report of a profile. */
export function reportFolder({ reports }: Ui, kind: ReportKind, profile: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return join(reports.folder, `${kind}-${profile}-${time}`);
}

/** A folder that reportFolder() has named. */
export interface KeptReport {
  folder: string;
  kind: ReportKind;
  profile: string;
  /** When the folder was named. */
  time: Date;
}

/** All that this editor has made, newest first. */
export async function keptReports({ reports }: Ui): Promise<KeptReport[]> {
  const kept = (await foldersIn(reports.folder)).flatMap((name): KeptReport[] => {
    const [, kind, profile, day, time] = /^(\w+)-(.+)-(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)$/.exec(name) ?? [];
    if (!isReportKind(kind) || profile === undefined) return [];
    const named = new Date(`${day ?? ''}T${time?.replaceAll('-', ':') ?? ''}Z`);
    return [{ folder: join(reports.folder, name), kind, profile, time: named }];
  });
  return kept.sort((a, b) => b.time.getTime() - a.time.getTime());
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
  ui: Ui,
  kind: ReportKind,
  profile: string,
  open: (folder: string) => Promise<T | undefined>,
): Promise<Found<T> | undefined> {
  const kept = await keptReports(ui);
  const ours = kept.filter((report) => report.kind === kind && report.profile === profile);
  for (const { folder } of ours) {
    try {
      const record = await open(folder);
      if (record !== undefined) return { folder, record };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      ui.services.logger.log('warn', errorWords(error));
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
