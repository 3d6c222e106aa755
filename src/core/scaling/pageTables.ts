// The tables and sentences of a scaling report, which its pages share.
import { plural } from '../base/plural.js';
import { moneyText } from '../cost/runCost.js';
import { gainedNothing } from './nextNode.js';
import type { ScalingReport } from './report.js';
import type { ScaledPoint, Spread } from './series.js';

/** A table with a head and rows of texts. */
export interface PageTable {
  title: string;
  head: string[];
  rows: string[][];
}

/** `1,234` from 1,000 on, else with one digit after the point. */
export const rateText = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
const percentText = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
const signedPercent = (fraction: number): string => `${fraction < 0 ? '' : '+'}${percentText(fraction)}`;
const msText = (value: number): string => Number(value.toPrecision(3)).toString();
const between = ({ low, high }: Spread, text: (value: number) => string): string =>
  `${text(low)} to ${text(high)}`;

/** What was measured, of each mode that has points. */
export function measuredTables({ weak, strong }: ScalingReport): PageTable[] {
  const table = (title: string, series: readonly ScaledPoint[]): PageTable[] =>
    series.length === 0
      ? []
      : [
          {
            title,
            head: [
              ...['replicas', 'hosts', 'batch each', 'images/s', 'quartiles', 'speed-up', 'efficiency'],
              ...['step (ms)', 'compute', 'communication', 'input', 'all-reduce alone (ms)'],
            ],
            rows: series.map(({ point, speedup, efficiency, shares }) => [
              ...[point.replicas, point.hosts, point.batch].map(String),
              rateText(point.imagesPerSec.median),
              between(point.imagesPerSec, rateText),
              speedup.toFixed(2),
              percentText(efficiency.median),
              msText(point.stepMs.median),
              ...[shares.compute, shares.communication, shares.input].map(percentText),
              point.allReduceMs === null ? '' : msText(point.allReduceMs),
            ]),
          },
        ];
  return [
    ...table('Weak scaling: every replica keeps its batch', weak),
    ...table('Strong scaling: the replicas share one batch', strong),
  ];
}

/** What is predicted. */
export function predictionTable({ predictions }: ScalingReport): PageTable | undefined {
  if (predictions.length === 0) return undefined;
  return {
    title: 'Prediction (not measured)',
    head: ['replicas', 'hosts', 'images/s, predicted', '80% interval'],
    rows: predictions.map(({ replicas, hosts, imagesPerSec, low, high }) => [
      ...[String(replicas), String(hosts), rateText(imagesPerSec)],
      `${rateText(low)} to ${rateText(high)}`,
    ]),
  };
}

/** How wrong the model was on the points themselves. */
export function errorTable({ leftOut }: ScalingReport): PageTable | undefined {
  if (leftOut.length === 0) return undefined;
  return {
    title: 'Error of the prediction: each point from the other ones',
    head: ['replicas', 'measured images/s', 'predicted images/s', 'error'],
    rows: leftOut.map(({ replicas, measured, predicted, error }) => [
      ...[String(replicas), rateText(measured), rateText(predicted), signedPercent(error)],
    ]),
  };
}

/** What one more node would bring, in sentences. Empty where nothing can be said. */
export function nextNodeSentences({ nextNode, weak, study: { currency } }: ScalingReport): string[] {
  const [first] = weak;
  const last = weak.at(-1);
  if (first && last && gainedNothing(weak)) {
    const rate = ({ point }: ScaledPoint): string =>
      `${rateText(point.imagesPerSec.median)} images/s with ${plural(point.replicas, 'replica')}`;
    return [
      `No gain was measured: ${rate(last)}, and ${rate(first)}. So nothing is predicted of one more node.`,
    ];
  }
  if (!nextNode) return [];
  const { replicas, hosts, moreImagesPerSec, low, high } = nextNode;
  const sentences = [
    `One more node (${plural(hosts, 'host')}, ${plural(replicas, 'replica')}) would bring about ${rateText(moreImagesPerSec)} images/s more (prediction; ${rateText(low)} to ${rateText(high)}).`,
  ];
  const { morePerHour, millionNow, millionThen } = nextNode;
  if (morePerHour === null || millionNow === null || millionThen === null || currency === null) {
    return [...sentences, 'The profile has no price, so nothing is said of money.'];
  }
  const money = (amount: number): string => moneyText(amount, currency);
  return [
    ...sentences,
    `It would cost ${money(morePerHour)} an hour more. A million images cost ${money(millionNow)} now, and would cost ${money(millionThen)} then.`,
  ];
}

/** Each figure's command, to make it again. */
export const commandsOf = ({ study }: ScalingReport): { what: string; command: string }[] => [
  ...study.points.map(({ mode, replicas, command }) => ({
    what: `${mode}, ${plural(replicas, 'replica')}`,
    command,
  })),
  ...(study.probe ? [{ what: `one replica, batch ${study.probe.batch}`, command: study.probe.command }] : []),
  ...study.failed.map(({ mode, replicas, command }) => ({
    what: `${mode}, ${plural(replicas, 'replica')} (failed)`,
    command,
  })),
];

/** What was measured, in one sentence. */
export function subjectOf({ study }: ScalingReport): string {
  const { model, device, profile, steps, words } = study;
  const name = model ?? 'a training';
  return `${name} on profile ${profile}${device === null ? '' : ` (${device})`}, ${steps} steps a point: ${words.join(' ')}`;
}
