// `trainyard report scaling`.
import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { measuredWords, measureScaling } from '../../core/measure/measureScaling.js';
import { newStudy, openStudy, scalingPage, writeReport } from '../../core/measure/scalingFolder.js';
import { measuredTables, nextNodeSentences } from '../../core/scaling/pageTables.js';
import { plannedPoints, replicasOf, slotsOf, usualReplicas } from '../../core/scaling/plan.js';
import type { Setup } from '../../core/scaling/model.js';
import type { ScalingReport } from '../../core/scaling/report.js';
import type { ScalingMode } from '../../core/scaling/series.js';
import { countOf, type Args } from '../args.js';
import type { Context } from '../context.js';
import { table } from '../format.js';
import { errorWords } from '../remedies.js';

export const usualSteps = 30;
export const fewestSteps = 8;

/** `report scaling`. Returns the exit code. */
export async function reportScaling(context: Context, args: Args): Promise<number> {
  const modes = modesOf(args);
  const between = linkOf(args.value('link'));
  const steps = countOf('--steps', args.value('steps') ?? String(usualSteps), usualSteps);
  if (steps < fewestSteps) {
    throw new UserError('usage', `--steps must be at least ${fewestSteps}`, 'Measure more steps');
  }
  const words = measuredWords(args.rest);
  const profile = await context.profile(args.words[1]);
  const { machine } = context;
  const given = args.value('replicas');
  const folder = resolve(context.cwd, args.value('out') ?? `scaling-${profile.name}`);
  const study = await openStudy(folder, newStudy(profile.name, words, steps, Date.now() / 1000));
  const measured = await context.withProgress(async (progress) => {
    const replicas =
      given === undefined
        ? usualReplicas(slotsOf(profile, (await machine.node.hello()).cores))
        : replicasOf(given);
    return measureScaling({
      ...progress,
      machine,
      profile,
      cwd: context.cwd,
      points: plannedPoints(replicas, modes),
      study,
      keepRuns: !args.has('remove-runs'),
      onStudy: async (now) => {
        await writeReport(folder, now, between);
      },
      onRun: (id) => context.note(id, profile.name),
      words: errorWords,
      logger: context.logger,
    });
  });
  const made = await writeReport(folder, measured, between);
  show(context, made, folder);
  if (measured.missing.length > 0) return exitCodes.interrupted;
  return measured.failed.length > 0 ? exitCodes.failed : exitCodes.done;
}

function modesOf(args: Args): ScalingMode[] {
  const [weak, strong] = [args.has('weak'), args.has('strong')];
  return weak === strong ? ['weak', 'strong'] : [weak ? 'weak' : 'strong'];
}

function linkOf(text: string | undefined): Setup['between'] {
  if (text === undefined) return undefined;
  const [, gbit, ms] = /^(\d+(?:\.\d+)?)(?:,(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  if (gbit !== undefined && Number(gbit) > 0) {
    return { bitsPerSecond: Number(gbit) * 1e9, latency: Number(ms ?? 0.05) / 1000 };
  }
  throw new UserError(
    'usage',
    `--link must be Gbit/s, and after a comma ms, not "${text}"`,
    'Write, say, 10,0.2',
  );
}

function show(context: Context, made: ScalingReport, folder: string): void {
  const { output, json } = context;
  const { bottleneck, predictions, nextNode, notes } = made;
  if (json) {
    for (const { point, speedup, efficiency, shares } of [...made.weak, ...made.strong]) {
      const { mode, replicas, hosts, imagesPerSec, run, command } = point;
      const images = { images_per_sec: imagesPerSec.median, low: imagesPerSec.low, high: imagesPerSec.high };
      const more = { speedup, efficiency: efficiency.median, shares, run, command };
      output.json({ type: 'scaling-point', mode, replicas, hosts, ...images, ...more });
    }
    output.json({
      ...{ type: 'scaling', folder, bottleneck: bottleneck?.kind ?? null, words: bottleneck?.words ?? null },
      ...{ predictions, next_node: nextNode, notes, failed: made.study.failed, missing: made.study.missing },
    });
    return;
  }
  for (const { title, head, rows } of measuredTables(made)) {
    output.line(title);
    const columns = [0, 1, 2, 3, 5, 6, 8, 9, 10];
    const pick = (cells: readonly string[]): string[] => columns.map((at) => cells[at] ?? '');
    const right = columns.map((_, at) => at);
    for (const line of table(
      pick(head).map((name) => name.toUpperCase()),
      rows.map(pick),
      right,
    )) {
      output.line(line);
    }
    output.line('');
  }
  if (bottleneck) output.line(`${bottleneck.words} ${bottleneck.advice}`);
  for (const line of nextNodeSentences(made)) output.line(line);
  for (const note of notes) output.note(note);
  output.line(`report  ${resolve(folder, scalingPage)}`);
}
