// The pages of a sweep, and the table and sentences that a terminal prints too.
import { durationText } from '../base/duration.js';
import { plural } from '../base/plural.js';
import { moneyText } from '../cost/runCost.js';
import { reportTitle } from '../model/measured.js';
import { escaped, htmlCommand, htmlList, htmlPage, htmlTable } from '../scaling/html.js';
import { markdownCommand, markdownTable } from '../scaling/markdown.js';
import { rateText, type PageTable } from '../scaling/pageTables.js';
import { valuesText } from './grid.js';
import { metricText } from './metric.js';
import { markStep } from './prune.js';
import { bestTrial, countOf, isTried, ranked, trialText, type Sweep, type Trial } from './record.js';

/** All trials, the best first. What no trial has is no column. */
export function trialTable(sweep: Sweep): PageTable & { right: number[] } {
  const { metric, trials } = sweep;
  const names = Object.keys(trials[0]?.values ?? {});
  type Column = [title: string, text: (trial: Trial) => string, right: boolean];
  const columns: Column[] = [
    ['trial', ({ number }) => String(number), true],
    ...names.map((name): Column => [name, ({ values }) => values[name] ?? '', true]),
    ['status', ({ status }) => status, false],
    [`best ${metric.name}`, ({ best }) => metricText(metric.name, best), true],
    ['last', ({ last }) => metricText(metric.name, last), true],
    ['images/s', ({ imagesPerSec }) => (imagesPerSec === null ? '' : rateText(imagesPerSec)), true],
    ['time', ({ seconds }) => (seconds === null ? '' : durationText(seconds)), true],
    ['price', ({ cost, currency }) => (cost === null ? '' : moneyText(cost, currency ?? '')), true],
    ['run', ({ run }) => run?.id ?? '', false],
    ['why', ({ why }) => why, false],
  ];
  const needed = columns.filter(
    ([title, text]) => !optional.has(title) || trials.some((one) => text(one) !== ''),
  );
  return {
    title: 'Trials',
    head: needed.map(([title]) => title),
    rows: ranked(sweep).map((trial) => needed.map(([, text]) => text(trial))),
    right: needed.flatMap(([, , right], at) => (right ? [at] : [])),
  };
}

const optional = new Set(['images/s', 'price', 'why']);

/** Which trial is the best, as a sentence. */
export function verdictSentence(sweep: Sweep): string {
  const { metric, trials } = sweep;
  const best = bestTrial(sweep);
  if (best) {
    const last = best.last === best.best ? '' : `, ${metricText(metric.name, best.last)} at its end`;
    const value = metricText(metric.name, best.best);
    return `Best: ${valuesText(best.values)} (trial ${best.number}), with ${metric.name} ${value}${last}.${silentSentence(sweep)}`;
  }
  if (!trials.some(({ status }) => status === 'finished' || status === 'stopped')) {
    return 'No trial has finished yet, so none is the best.';
  }
  const reported = [...new Set(trials.flatMap((trial) => trial.reported))];
  const others = reported.length === 0 ? 'They reported nothing' : `They reported ${listed(reported)}`;
  return `No trial reported ${metric.name}, so none is the best. ${others}.`;
}

/** Of trials that ended well without the metric: one of them may be better. Else empty. */
function silentSentence({ metric, trials }: Sweep): string {
  const silent = trials.filter(({ status, best }) => status === 'finished' && best === null);
  if (silent.length === 0) return '';
  const named = silent.slice(0, mostNames).map(({ number }) => String(number));
  const more = silent.length > mostNames ? ` and ${silent.length - mostNames} more` : '';
  return ` ${silent.length === 1 ? 'Trial' : 'Trials'} ${named.join(', ')}${more} finished without ${metric.name}.`;
}

/** Names shown of what was reported. */
const mostNames = 8;
function listed(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Of hosts that get no trials. */
export const unreached = (hosts: readonly string[]): string =>
  `${hosts.join(', ')} cannot be reached, so no trial runs there`;

/** One line on a trial that started, was found under way, or ended. */
export function trialLine(
  { trials, metric }: Sweep,
  trial: Trial,
  what: 'started' | 'attached' | 'ended',
): string {
  const of = `${trialText(trial)} of ${trials.length}`;
  const id = trial.run?.id ?? '';
  if (what === 'started') return `${of} started: ${id}`;
  if (what === 'attached') return `${of} attached: ${id}`;
  const value = trial.best === null ? '' : `, best ${metric.name} ${metricText(metric.name, trial.best)}`;
  return `${of} ${trial.status}${value}${trial.why === '' ? '' : `: ${trial.why}`}`;
}

/** How the trials ended, and what a reader must know. */
export function sweepNotes(sweep: Sweep): string[] {
  const { trials, metric, prune, cancelled } = sweep;
  const finished = countOf(sweep, 'finished');
  const open = trials.filter((trial) => !isTried(trial)).length;
  return [
    `${finished} of ${plural(trials.length, 'trial')} finished.`,
    `${metric.goal === 'max' ? 'More' : 'Less'} of ${metric.name} is better, and a trial counts by its best value.`,
    ...(prune === undefined ? [] : [prunedNote(prune, countOf(sweep, 'pruned'))]),
    ...(open > 0 ? [`${plural(open, 'trial')} ${open === 1 ? 'is' : 'are'} still to come to an end.`] : []),
    ...(cancelled ? ['The sweep was ended before all trials were tried.'] : []),
    ...trials
      .filter(({ status }) => status === 'failed' || status === 'interrupted')
      .map((trial) => `${trialText(trial)} ${trial.status}${trial.why === '' ? '' : `: ${trial.why}`}`),
  ];
}

const prunedNote = (first: number, pruned: number): string =>
  `After ${[0, 1, 2].map((place) => markStep(first, place)).join(', ')} … steps only the best third of the ` +
  `trials goes on. ${plural(pruned, 'trial')} ${pruned === 1 ? 'was' : 'were'} pruned.`;

/** What the page of a sweep is called. */
const sweepTitle = (profile: string): string => reportTitle('sweep', profile);

const subjectOf = ({ name, profile, asked }: Sweep): string =>
  `${name}, on profile ${profile}: ${asked.rest.join(' ')}`;

const commandsOf = (sweep: Sweep): { what: string; command: string }[] =>
  ranked(sweep).map((trial) => ({ what: trialText(trial), command: trial.command }));

/** Like the page of a scaling report: no script, no other file. */
export function sweepHtml(sweep: Sweep): string {
  const best = bestTrial(sweep);
  const again = best ? htmlCommand({ what: 'In a terminal:', command: best.command }) : '';
  return htmlPage(sweepTitle(sweep.profile), [
    `<h1>${escaped(sweepTitle(sweep.profile))}</h1>`,
    `<p class="soft">${escaped(subjectOf(sweep))}</p>`,
    `<div class="box"><p><strong>${escaped(verdictSentence(sweep))}</strong></p>${again}</div>`,
    htmlTable(trialTable(sweep), 'trials'),
    `<h2>Notes</h2>${htmlList(sweepNotes(sweep))}`,
    '<h2>Commands</h2>',
    ...commandsOf(sweep).map(htmlCommand),
  ]);
}

/** Of GitHub's kind; it ends with a newline. */
export function sweepMarkdown(sweep: Sweep): string {
  const parts = [
    `# ${sweepTitle(sweep.profile)}`,
    subjectOf(sweep),
    `**${verdictSentence(sweep)}**`,
    ...markdownTable(trialTable(sweep)),
    '## Notes',
    sweepNotes(sweep)
      .map((note) => `- ${note}`)
      .join('\n'),
    '## Commands',
    commandsOf(sweep).map(markdownCommand).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}
