// Open Report.
import * as vscode from 'vscode';
import type { ReportArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { begunOf, pageOf } from '../../../core/measure/reportFolder.js';
import { reportTitle } from '../../../core/model/measured.js';
import type { Ui } from '../ui.js';
import { findReport, keptReports, type KeptReport } from './showReport.js';

const title = 'Open Report';

/**
 * Shows the page of the given report, or of the one that is chosen. UserError (usage) where this
 * editor has not made it.
 */
export async function openReport(ui: Ui, given?: ReportArgument): Promise<void> {
  const report = given ? await ofRow(ui, given) : await ask(ui);
  if (!report) return;
  const { folder, kind, profile } = report;
  await ui.reports.show(reportTitle(kind, profile), folder, pageOf[kind]);
}

type Place = Pick<KeptReport, 'folder' | 'kind' | 'profile'>;

/** The one whose runs the row has: they name when it was begun. */
async function ofRow(ui: Ui, { profile, report: { kind, begun } }: ReportArgument): Promise<Place> {
  const found = await findReport(ui, kind, profile, async (folder) => {
    const own = await begunOf(folder, kind);
    return own !== undefined && own === begun ? own : undefined;
  });
  if (found) return { kind, profile, folder: found.folder };
  const what = `${reportTitle(kind, profile)} was not made by this editor, or its folder is gone`;
  const made = `A report of the command line is in the folder that --out named: open its ${pageOf[kind]}`;
  throw new UserError('usage', what, made);
}

async function ask(ui: Ui): Promise<Place | undefined> {
  const kept = await keptReports(ui);
  if (kept.length === 0) {
    const text = `${title}: there is none yet. Measure Scaling and Find Fastest Settings make reports.`;
    void vscode.window.showInformationMessage(text);
    return undefined;
  }
  const items = kept.map((report) => ({
    label: reportTitle(report.kind, report.profile),
    description: report.time.toLocaleString(),
    report,
  }));
  const options = { title, placeHolder: 'Which report?', matchOnDescription: true };
  return (await vscode.window.showQuickPick(items, options))?.report;
}
