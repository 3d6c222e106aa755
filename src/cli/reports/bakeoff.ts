// `trainyard report bakeoff`.
import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { candidatesOf, triedOf } from '../../core/bakeoff/candidates.js';
import { bakeOffNotes, candidateTable, keptSentence, verdictSentences } from '../../core/bakeoff/pages.js';
import { imagesPerSecOf, isWhole, winnerOf, type BakeOffResult } from '../../core/bakeoff/result.js';
import { trainDefaultsOf } from '../../core/bakeoff/trainDefaultsOf.js';
import { bakeOff } from '../../core/measure/bakeOff.js';
import { bakeOffPage, readBakeOff, writeBakeOff } from '../../core/measure/bakeOffFolder.js';
import { measuredWords } from '../../core/measure/measureScaling.js';
import { trainDefaultsText } from '../../core/plan/request/trainDefaults.js';
import { replicasOf, slotsOf, slotsOfNode, usualReplicas } from '../../core/scaling/plan.js';
import { countOf, type Args } from '../args.js';
import type { Context } from '../context.js';
import { table } from '../format.js';
import { errorWords } from '../remedies.js';

export const usualMinutes = 10;

/** Returns the exit code. */
export async function reportBakeOff(context: Context, args: Args): Promise<number> {
  const words = measuredWords(args.rest);
  const seconds = 60 * minutesOf(args.value('minutes') ?? String(usualMinutes));
  const tried = args.value('try');
  const rounds = args.value('rounds');
  const given = args.value('replicas');
  const wanted = {
    ...(tried === undefined ? {} : { tried: triedOf(tried) }),
    ...(rounds === undefined ? {} : { rounds: countOf('--rounds', rounds, 1) }),
    ...(given === undefined ? {} : { ranks: replicasOf(given) }),
  };
  const profile = await context.profile(args.words[1]);
  const { machine } = context;
  const folder = resolve(context.cwd, args.value('out') ?? `bakeoff-${profile.name}`);
  const result = await context.withProgress(async (progress) => {
    const { cores } = await machine.node.hello();
    const ranks = wanted.ranks ?? usualReplicas(slotsOf(profile, cores));
    const limits = { ranks, cores, slots: slotsOfNode(profile, cores) };
    const found = candidatesOf(words, await machine.trainerFlags('train'), limits, wanted.tried);
    const known = await readBakeOff(folder, { profile: profile.name, words, ...found });
    const earlier = known && !isWhole(known) ? known : undefined;
    if (earlier) context.output.note(`goes on with ${folder}: ${keptSentence(earlier)}`);
    return bakeOff({
      ...progress,
      ...found,
      earlier,
      machine,
      profile,
      cwd: context.cwd,
      words,
      seconds,
      ...(wanted.rounds === undefined ? {} : { rounds: wanted.rounds }),
      keepRuns: args.has('keep-runs'),
      onResult: (now) => writeBakeOff(folder, now),
      onRun: (id) => context.note(id, profile.name),
      errorWords,
      logger: context.logger,
    });
  });
  const train = trainDefaultsOf(result);
  const saved = args.has('save') && train !== undefined && !result.cancelled;
  // The profile may have been edited meanwhile.
  if (saved) await context.profiles.change(profile.name, (current) => ({ ...current, train }));
  show(context, result, folder);
  if (saved && !context.json) {
    context.output.line(`saved   trainings on ${profile.name}: ${trainDefaultsText(train)}`);
  }
  if (result.cancelled) return exitCodes.interrupted;
  return winnerOf(result) ? exitCodes.done : exitCodes.failed;
}

/** UserError (usage). */
function minutesOf(text: string): number {
  const value = /^\d{1,4}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new UserError(
    'usage',
    `--minutes must be a number above 0, not "${text}"`,
    `Write, for example, --minutes ${usualMinutes}`,
  );
}

function show({ output, json }: Context, result: BakeOffResult, folder: string): void {
  if (json) {
    for (const one of result.candidates) {
      const { name, ranks, flags, outcome, why, command, runs } = one;
      const images = imagesPerSecOf(one);
      const rate = {
        ...{ images_per_sec: images?.median ?? null, low: images?.low ?? null, high: images?.high ?? null },
        rounds: runs.length,
        seconds: runs.reduce((sum, run) => sum + run.seconds, 0),
      };
      output.json({ type: 'bakeoff-candidate', name, ranks, flags, ...rate, outcome, why, command });
    }
    const winner = winnerOf(result);
    const { spent, budget, leftOut: left_out, cancelled } = result;
    const rounds = result.rounds.map(({ candidates, seconds }) => ({ candidates, seconds }));
    output.json({
      ...{ type: 'bakeoff', folder, winner: winner?.name ?? null, ranks: winner?.ranks ?? null },
      ...{ flags: winner?.flags ?? null, rounds, spent, budget, left_out, cancelled },
    });
    return;
  }
  const { head, rows } = candidateTable(result);
  const heads = head.map((name) => name.toUpperCase());
  for (const line of table(heads, rows, [1, 2, 3])) output.line(line);
  output.line('');
  for (const line of verdictSentences(result)) output.line(line);
  for (const note of bakeOffNotes(result)) output.note(note);
  output.line(`report  ${resolve(folder, bakeOffPage)}`);
}
