// Measure Scaling.
import * as vscode from 'vscode';
import type { MeasureArgument } from '../../../contributions.js';
import { measureScaling as measure } from '../../../core/measure/measureScaling.js';
import { newStudy, writeReport } from '../../../core/measure/scalingFolder.js';
import { scalingHtml } from '../../../core/scaling/html.js';
import { plannedPoints } from '../../../core/scaling/plan.js';
import { errorWords } from '../../remedies.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { askTraining } from './askTraining.js';
import { offerFolder, reportFolder, showReport } from './showReport.js';

const steps = 30;

/** Cancel ends it with a report of what there is. */
export async function measureScaling(ui: Ui, given?: MeasureArgument): Promise<void> {
  const asked = await askTraining(ui, 'Measure Scaling', given);
  if (!asked) return;
  const { session, words, ranks } = asked;
  const { profile } = session;
  const machine = await session.machine();
  const { monitor } = await ui.services.backend();
  const folder = reportFolder(ui, 'scaling', profile.name);
  const study = await withProgress(`Measuring ${profile.name}`, (progress) =>
    measure({
      ...progress,
      machine,
      profile,
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/',
      points: plannedPoints(ranks, ['weak', 'strong']),
      study: newStudy(profile.name, words, steps, Date.now() / 1000),
      keepRuns: true,
      onStudy: async (now) => {
        await writeReport(folder, now);
      },
      onRun: () => monitor.refresh(),
      words: errorWords,
      logger: ui.services.logger,
    }),
  );
  const made = await writeReport(folder, study);
  showReport(ui, `Scaling of ${profile.name}`, scalingHtml(made));
  const said = made.bottleneck?.words ?? 'Too little was measured to name a bottleneck.';
  void offerFolder(`Scaling of ${profile.name}: ${said}`, folder);
}
