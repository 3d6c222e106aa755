import { visible } from '../../core/base/visible.js';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { plural } from '../../core/base/plural.js';
import { csvText } from '../../core/compare/exports.js';
import { noRuns } from '../../core/agent/runRegistry.js';
import { OverviewReader, type RunOverview } from '../../core/follow/overview.js';
import { accuracyKind } from '../../core/model/accuracyKind.js';
import { filteredRun, fits, isEmptyFilter, statusesOf, type RunFilter } from '../../core/model/runFilter.js';
import { reasonOf, statusOf, statusText, statusWords } from '../../core/model/runStatus.js';
import { joinWords } from '../../core/plan/request/argv.js';
import { tagsOf } from '../../core/plan/request/about.js';
import { gpuHoursText } from '../../core/cost/gpuHours.js';
import { moneyText, type RunCost } from '../../core/cost/runCost.js';
import { spendingText, type Spending } from '../../core/model/spending.js';
import type { RunEntry } from '../../core/contracts/agentApi.js';
import type { Args } from '../args.js';
import { accuracyOf } from '../accuracy.js';
import type { Verb } from '../context.js';
import { errorWords } from '../remedies.js';
import { percentText, rateText, table, timeText } from '../format.js';

const shown = 30;

/** UserError (usage) for a status that is none. */
const askedFilter = (args: Args): RunFilter => ({
  statuses: args.all('status').flatMap((text) => statusesOf(text, '--status')),
  tags: tagsOf(args.all('tag')),
  text: args.all('match').join(' '),
});

export const runs: Verb = {
  verb: 'runs',
  summary: 'lists the runs of a profile, newest first',
  words: ['P?'],
  flags: [
    { name: 'all', help: `all of them, not the newest ${shown}` },
    { name: 'tag', value: 'T', help: 'only those with this tag; may be given more than once' },
    {
      name: 'status',
      value: 'S',
      help: `only those that are so; several with commas: ${statusWords.join(', ')}`,
    },
    {
      name: 'match',
      value: 'TEXT',
      help: 'only those with these words in id, name, tags, notes or command',
    },
    { name: 'csv', help: 'comma-separated values, a run a line' },
    {
      name: 'accuracy',
      value: 'A',
      help: 'the price to top-1 of A, say 80%; the default is the highest whole percent that the run reached',
    },
  ],
  async run(context, args) {
    if (args.has('csv') && context.json) {
      throw new UserError('usage', 'more than one form was asked for', 'Use one of --json and --csv');
    }
    const accuracy = accuracyOf(args.value('accuracy'));
    const filter = askedFilter(args);
    const profile = await context.profile(args.words[0]);
    const registry = await context.machine.registry(profile);
    const all = await registry.list();
    const entries = all.filter((entry) => fits(filteredRun(profile.name, entry, statusOf(entry)), filter));
    const chosen = args.has('all') ? entries : entries.slice(0, shown);
    const client = await context.node.client();
    const reader = new OverviewReader();
    const overviews: RunOverview[] = [];
    for (const entry of chosen) overviews.push(await reader.read(client, entry));
    if (args.has('csv')) {
      context.output.bytes(Buffer.from(runsCsv(profile.name, overviews)));
      return exitCodes.done;
    }
    if (context.json) {
      for (const { entry, ...figures } of overviews) {
        const {
          status,
          step = null,
          totalSteps = null,
          imagesPerSec = null,
          rateWriters,
          loss = null,
          top1 = null,
          health,
          cost,
          gpuHours,
          spending,
        } = figures;
        const { id, dir, run, state } = entry;
        const about = {
          phase: status,
          health,
          step,
          total_steps: totalSteps,
          images_per_sec: imagesPerSec,
          images_per_sec_writers: rateWriters,
          loss,
          top1,
          cost: cost ? costRecord(cost, spending(accuracy)) : null,
          gpu_hours: gpuHours ?? null,
        };
        context.output.json({
          type: 'run',
          id,
          dir,
          ...(entry.about ?? { name: '', tags: [], notes: '' }),
          ...about,
          elsewhere: entry.elsewhere ?? null,
          queue: entry.queue ?? null,
          run,
          state,
        });
      }
      return exitCodes.done;
    }
    if (overviews.length === 0 && all.length > 0) {
      context.output.note(`none of the ${plural(all.length, 'run')} of ${profile.name} is such a run`);
      return exitCodes.done;
    }
    if (overviews.length === 0) {
      context.output.note(errorWords(noRuns(await context.runsKnown(profile.name))));
      return exitCodes.done;
    }
    const priced = overviews.some(({ cost }) => cost !== undefined);
    const counted = overviews.some(({ gpuHours }) => gpuHours !== undefined);
    const named = overviews.some(
      ({ entry: { about } }) => about && (about.name !== '' || about.tags.length > 0),
    );
    const head = [
      ...['RUN', ...(named ? ['NAME'] : []), 'PHASE', 'STEP', 'IMAGES/S', 'TOP-1'],
      ...(priced ? ['COST', 'OF WHICH'] : []),
      ...(counted ? ['GPU HOURS'] : []),
      ...['STARTED', 'HEALTH'],
    ];
    const rows = overviews.map((overview) => row(overview, { priced, counted, named, accuracy }));
    const figures = [2, 3, 4, ...(priced ? [5] : []), ...(counted ? [priced ? 7 : 5] : [])];
    const right = named ? figures.map((column) => column + 1) : figures;
    for (const line of table(head, rows, right)) context.output.line(line);
    const hidden = entries.length - chosen.length;
    if (hidden > 0) {
      const same = isEmptyFilter(filter) ? '' : ' with the same filter';
      context.output.note(`${hidden} older ones: trainyard runs ${profile.name} --all${same}`);
    }
    return exitCodes.done;
  },
};

/** What the table says, with figures that programs can read. */
function runsCsv(profile: string, overviews: readonly RunOverview[]): string {
  const head = [
    ...['run', 'name', 'tags', 'profile', 'status', 'step', 'total_steps', 'images_per_sec', 'loss'],
    ...['top1', 'cost', 'currency', 'gpu_hours', 'started', 'ended', 'health', 'command'],
  ];
  const rows = overviews.map((overview) => {
    const { entry, status, step, totalSteps, imagesPerSec, loss, top1, cost, gpuHours, health } = overview;
    const { about, state, run } = entry;
    return [
      ...[entry.id, about?.name, about?.tags.join(' '), profile, status, step, totalSteps, imagesPerSec],
      ...[loss, top1, cost?.soFar, cost?.currency, gpuHours, state?.started, state?.ended],
      ...[reasonOf(entry) ?? health.text, run ? joinWords(run.argv) : ''],
    ];
  });
  return csvText([head, ...rows]);
}

type CostRecord = Record<'per_hour' | 'so_far', number> &
  Record<'at_end' | 'per_epoch' | 'restarts' | 'idle', number | null> & {
    currency: string;
    to_accuracy: { accuracy: number; amount: number } | null;
  };

function costRecord(
  { currency, perHour, soFar, atEnd, perEpoch }: RunCost,
  spending: Spending | undefined,
): CostRecord {
  const { toAccuracy = null, restarts = null, idle = null } = spending ?? {};
  const forecast = { at_end: atEnd ?? null, per_epoch: perEpoch ?? null };
  return { currency, per_hour: perHour, so_far: soFar, ...forecast, to_accuracy: toAccuracy, restarts, idle };
}

/** `first try #baseline`. */
const nameText = ({ about }: RunEntry): string =>
  visible([about?.name ?? '', ...(about?.tags ?? []).map((tag) => `#${tag}`)].join(' ').trim());

/**
 * Columns that are there where a run has something for them, and the accuracy that is asked for.
 */
interface Columns extends Record<'priced' | 'counted' | 'named', boolean> {
  accuracy: number | undefined;
}

/** `3.10 USD until top-1 80%, restarts 0.42 USD`. */
function spent({ spending }: RunOverview, asked: number | undefined): string {
  const found = spending(asked);
  return found ? spendingText(found) : '';
}

function row(overview: RunOverview, { priced, counted, named, accuracy: asked }: Columns): string[] {
  const { entry, status, health, step, totalSteps, imagesPerSec, rateWriters, top1, cost, gpuHours } =
    overview;
  const steps = step === undefined ? '' : `${step}${totalSteps === undefined ? '' : `/${totalSteps}`}`;
  const sum = rateWriters > 1 ? `, sum of ${rateWriters}` : '';
  const rate = imagesPerSec === undefined ? '' : rateText(imagesPerSec) + sum;
  const accuracy = top1 === undefined ? '' : percentText(top1) + accuracyKind(overview);
  return [
    entry.id,
    ...(named ? [nameText(entry)] : []),
    statusText(status, entry),
    steps,
    rate,
    accuracy,
    ...(priced ? [cost ? moneyText(cost.soFar, cost.currency) : '', spent(overview, asked)] : []),
    ...(counted ? [gpuHours === undefined ? '' : gpuHoursText(gpuHours)] : []),
    entry.state ? timeText(entry.state.started) : '',
    health.kind === 'over' ? (reasonOf(entry) ?? '') : health.text,
  ];
}
