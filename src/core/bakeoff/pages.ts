// The pages of a bake-off, and the sentences that a terminal prints too.
import { plural } from '../base/plural.js';
import { reportTitle } from '../model/measured.js';
import { commandLineOf } from '../plan/request/commandLine.js';
import { escaped, htmlCommand, htmlList, htmlPage, htmlTable } from '../scaling/html.js';
import { markdownCommand, markdownTable } from '../scaling/markdown.js';
import { rateText, type PageTable } from '../scaling/pageTables.js';
import {
  bestRunOf,
  imagesPerSecOf,
  isCutShort,
  winnerOf,
  type BakeOffResult,
  type CandidateResult,
  type Outcome,
} from './result.js';

const outcomes: Record<Outcome, string> = {
  won: 'won',
  level: 'level with it',
  dropped: 'dropped',
  failed: 'failed',
  same: 'the same',
  notTried: 'not tried',
};

/** All candidates, those that got furthest first. */
export function candidateTable({ candidates }: BakeOffResult): PageTable {
  const rate = (one: CandidateResult): number => imagesPerSecOf(one)?.median ?? 0;
  const place = ({ outcome, runs }: CandidateResult): number => (outcome === 'won' ? 1e6 : runs.length);
  const ranked = [...candidates].sort((a, b) => place(b) - place(a) || rate(b) - rate(a));
  return {
    title: 'Candidates',
    head: ['settings', 'rounds', 'seconds', 'images/s', 'spread', 'outcome', 'why'],
    rows: ranked.map((one) => {
      const images = imagesPerSecOf(one);
      return [
        one.name,
        String(one.runs.length),
        one.runs.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(1),
        images ? rateText(images.median) : '',
        images ? `${rateText(images.low)} to ${rateText(images.high)}` : '',
        outcomes[one.outcome],
        one.why,
      ];
    }),
  };
}

/** How many candidates each round had. */
const roundTable = ({ rounds }: BakeOffResult): PageTable => ({
  title: 'Rounds',
  head: ['round', 'candidates', 'seconds of each'],
  rows: rounds.map(({ candidates, seconds }, at) => [
    ...[String(at + 1), String(candidates)],
    seconds.toFixed(1),
  ]),
});

/** What won, and how sure that is. */
export function verdictSentences(result: BakeOffResult): string[] {
  const winner = winnerOf(result);
  const images = winner && imagesPerSecOf(winner);
  if (!winner || !images) return ['Nothing was measured, so nothing won.'];
  const level = result.candidates.filter(({ outcome }) => outcome === 'level');
  const [first] = [...result.candidates]
    .filter((one) => one !== winner && !level.includes(one) && one.rates.length > 0)
    .sort((a, b) => (imagesPerSecOf(b)?.median ?? 0) - (imagesPerSecOf(a)?.median ?? 0));
  const sentences = [
    `Best: ${winner.name}, with ${rateText(images.median)} images/s (${rateText(images.low)} to ${rateText(images.high)}).`,
  ];
  if (level.length > 0) {
    sentences.push(`It cannot be told apart from: ${level.map(({ name }) => name).join('; ')}.`);
  }
  if (first) {
    sentences.push(`The next one is ${first.name}, with ${rateText(imagesPerSecOf(first)?.median ?? 0)}.`);
  }
  return sentences;
}

/** What a reader of the figures must know. */
export function bakeOffNotes(result: BakeOffResult): string[] {
  const { candidates, leftOut, cancelled, spent, budget } = result;
  const untried = candidates.filter(({ outcome }) => outcome === 'notTried').length;
  return [
    ...(cancelled ? ['The search was cancelled before its time was over.'] : []),
    `It took ${minutes(spent)} of ${minutes(budget)}.`,
    'Every replica keeps its batch, so more ranks make a larger global batch.',
    'The spread is where the median lies in 95 of 100 cases, and at least 1.5% to either side.',
    ...(untried > 0 ? [untriedSentence(untried, isCutShort(result))] : []),
    ...leftOut.map(({ what, why }) => `Not tried: ${what}, since ${why}.`),
  ];
}

const untriedSentence = (untried: number, isCut: boolean): string =>
  isCut
    ? `${plural(untried, 'candidate')} had no run before the search was cancelled.`
    : `There was no time for ${plural(untried, 'candidate')}.`;

/** What of a bake-off that was ended is kept when it goes on. */
export function keptSentence({ candidates, rounds, spent, budget }: BakeOffResult): string {
  const runs = candidates.reduce((sum, one) => sum + one.runs.length, 0);
  const tried = candidates.filter((one) => one.runs.length > 0).length;
  return `kept are ${plural(runs, 'run')} of ${tried} of ${plural(candidates.length, 'candidate')}, in ${plural(rounds.length, 'round')}; ${minutes(spent)} of ${minutes(budget)} have passed.`;
}

const minutes = (seconds: number): string => `${(seconds / 60).toFixed(1)} minutes`;

/** What the page of a bake-off, and its tab, is called. */
export const bakeOffTitle = (profile: string): string => reportTitle('bakeoff', profile);
const heading = 'Fastest settings (bake-off)';
const bySpeed =
  'Candidates are compared by images/s alone. How accurate a network becomes with them was not measured.';

const subjectOf = ({ model, device, profile, words }: BakeOffResult): string =>
  `${model ?? 'A training'} on profile ${profile}${device === null ? '' : ` (${device})`}: ${words.join(' ')}`;

const commandsOf = ({ candidates }: BakeOffResult): { what: string; command: string }[] =>
  candidates.map(({ name, command }) => ({ what: name, command }));

/** Like the page of a scaling report: no script, no other file. */
export function bakeOffHtml(result: BakeOffResult): string {
  const [best = '', ...more] = verdictSentences(result);
  return htmlPage(bakeOffTitle(result.profile), [
    `<h1>${heading}</h1>`,
    `<p class="soft">${escaped(subjectOf(result))}</p>`,
    `<p>${bySpeed}</p>`,
    `<div class="box"><p><strong>${escaped(best)}</strong> ${escaped(more.join(' '))}</p>${useHtml(result)}</div>`,
    htmlTable(candidateTable(result), 'texts'),
    htmlTable(roundTable(result)),
    `<h2>Notes</h2>${htmlList(bakeOffNotes(result))}`,
    '<h2>Commands</h2>',
    ...commandsOf(result).map(htmlCommand),
  ]);
}

/** How to use the winner. Where the page can start a run, `data-run` says which. */
function useHtml(result: BakeOffResult): string {
  const run = bestRunOf(result);
  if (!run) return '';
  const command = commandLineOf(run); // under a name of its own: it is no run of the bake-off
  return `<div data-run="${encodeURIComponent(JSON.stringify(run))}"></div>${htmlCommand({ what: 'In a terminal:', command })}`;
}

/** Of GitHub's kind; it ends with a newline. */
export function bakeOffMarkdown(result: BakeOffResult): string {
  const [best = '', ...more] = verdictSentences(result);
  const parts = [
    `# ${heading}`,
    subjectOf(result),
    bySpeed,
    `**${best}** ${more.join(' ')}`.trim(),
    ...markdownTable(candidateTable(result)),
    ...markdownTable(roundTable(result)),
    '## Notes',
    bakeOffNotes(result)
      .map((note) => `- ${note}`)
      .join('\n'),
    '## Commands',
    commandsOf(result).map(markdownCommand).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}
