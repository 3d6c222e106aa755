// A comparison of runs in the terminal.
import type { Comparison } from '../core/compare/comparison.js';
import { textTable } from '../core/compare/exports.js';
import type { Difference } from '../core/compare/settings.js';
import { parseTrainerHelp } from '../core/plan/request/trainerHelp.js';
import { table as aligned } from './format.js';

/** A trainer of which it is known what it does where a flag is left out. */
export interface KnownTrainer {
  /** The first digits of its SHA-256, as the settings of a run have them. */
  hash: string;
  /** What it says of `train`. */
  help: string;
}

/** Each says how long to train: where one is given, the default of the other has no effect. */
const lengths: Readonly<Record<string, string>> = { steps: 'epochs', epochs: 'steps' };
/** What had no effect. */
const notInForce = '-';

/**
 * With `0.9 (default)` where a training by this very trainer left out a flag that another gave, and
 * a dash where another flag took its place.
 */
export function withDefaults(comparison: Comparison, trainer: KnownTrainer): Comparison {
  const flags = new Map(parseTrainerHelp(trainer.help).map((flag) => [flag.name.slice(2), flag]));
  const filled = ({ name, values }: Difference): Difference => {
    const flag = flags.get(name);
    const initial = flag?.value === undefined ? flag && 'no' : flag.initial;
    if (initial === undefined) return { name, values };
    const isKnown = (at: number): boolean => {
      const settings = comparison.runs[at]?.settings;
      return settings?.['verb'] === 'train' && settings['trainer'] === trainer.hash;
    };
    const other = lengths[name];
    const textOf = (at: number): string => {
      // Of 0 steps the epochs count.
      const given = other === undefined ? undefined : comparison.runs[at]?.settings[other];
      const isReplaced = given !== undefined && given !== '0';
      return isReplaced || (name === 'steps' && initial === '0') ? notInForce : `${initial} (default)`;
    };
    return { name, values: values.map((value, at) => value ?? (isKnown(at) ? textOf(at) : null)) };
  };
  return { ...comparison, differences: comparison.differences.map(filled) };
}

/**
 * Runs as columns where that fits into `width` characters, else runs as rows. What differs is a
 * table of its own.
 */
export function comparisonLines(comparison: Comparison, width: number): string[] {
  const { runs, differences, columns } = comparison;
  const names = runs.map(({ name }) => name);
  const all = names.map((_, index) => index + 1);
  const figures = [
    ['status', ...runs.map(({ status }) => status)],
    ...columns.map(({ title, texts }) => [title, ...texts]),
  ];
  const settings = differences.map(({ name, values }) => [
    name,
    ...values.map((value) => short(value ?? '')),
  ]);
  const upright = [
    ...aligned(['FIGURE', ...names], figures, all),
    '',
    ...(settings.length === 0
      ? ['The settings do not differ.']
      : aligned(['DIFFERS', ...names], settings, all)),
  ];
  if (upright.every((line) => line.length <= width)) return upright;
  const { head, rows, right } = textTable(comparison);
  return aligned(
    head.map((title) => title.toUpperCase()),
    rows.map((cells) => cells.map(short)),
    right,
  );
}

/** Characters of a cell. */
const mostCharacters = 40;

/** Begin and end of a long text, such as a path, with an ellipsis between them. */
function short(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= mostCharacters) return text;
  const begin = Math.floor((mostCharacters - 1) / 3);
  const end = mostCharacters - 1 - begin;
  return `${characters.slice(0, begin).join('')}…${characters.slice(-end).join('')}`;
}
