// Measure Scaling.
import * as vscode from 'vscode';
import type { MeasureArgument } from '../../../contributions.js';
import { measureScaling as measure } from '../../../core/measure/measureScaling.js';
import { reportTitle } from '../../../core/model/measured.js';
import { newStudy, readStudy, scalingPage, writeReport } from '../../../core/measure/scalingFolder.js';
import { plannedPoints, type PlannedPoint } from '../../../core/scaling/plan.js';
import { sameStudy, type ScalingStudy } from '../../../core/scaling/study.js';
import { errorWords } from '../../remedies.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { askTraining } from './askTraining.js';
import { askGoOn, findReport, offerFolder, reportFolder, type Found } from './showReport.js';

const title = 'Measure Scaling';
const steps = 30;

/** Cancel ends it with a report of what there is. */
export async function measureScaling(ui: Ui, given?: MeasureArgument): Promise<void> {
  const training = await askTraining(ui, title, given);
  if (!training) return;
  const { session, words, ranks } = training;
  const { profile } = session;
  const machine = await session.machine();
  const { monitor } = await ui.services.backend();
  const points = plannedPoints(ranks, ['weak', 'strong']);
  const asked = newStudy(profile.name, words, steps, Date.now() / 1000);
  const left = await findLeft(ui, asked, points);
  const goOn = left && !given?.words ? await askGoOn(title, keptPoints(left.record, points)) : false;
  if (goOn === undefined && left) return;
  const study = left && goOn ? left.record : asked;
  const folder = left && goOn ? left.folder : reportFolder(ui, 'scaling', profile.name);
  const measured = await withProgress(`Measuring ${profile.name}`, (progress) =>
    measure({
      ...progress,
      machine,
      profile,
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/',
      points,
      study,
      keepRuns: true,
      onStudy: async (now) => {
        await writeReport(folder, now);
      },
      onRun: () => monitor.refresh(profile.name),
      words: errorWords,
      logger: ui.services.logger,
    }),
  );
  const made = await writeReport(folder, measured);
  const tab = reportTitle('scaling', profile.name);
  await ui.reports.show(tab, folder, scalingPage);
  const said = made.bottleneck?.words ?? 'Too little was measured to name a bottleneck.';
  void offerFolder(`${tab}: ${said}`, folder);
}

/** The last one of the same training, where it lacks points. */
async function findLeft(
  ui: Ui,
  asked: ScalingStudy,
  points: readonly PlannedPoint[],
): Promise<Found<ScalingStudy> | undefined> {
  const found = await findReport(ui, 'scaling', asked.profile, async (folder) => {
    const study = await readStudy(folder);
    return study && study.points.length > 0 && sameStudy(study, asked) ? study : undefined;
  });
  return found && measuredOf(found.record, points) < points.length ? found : undefined;
}

const measuredOf = (study: ScalingStudy, points: readonly PlannedPoint[]): number =>
  points.filter(({ mode, replicas }) =>
    study.points.some((point) => point.mode === mode && point.replicas === replicas),
  ).length;

const keptPoints = (study: ScalingStudy, points: readonly PlannedPoint[]): string =>
  `${measuredOf(study, points)} of ${points.length} points are kept.`;
