// The settings that a sweep tries: every combination of the named values, or some that are drawn.
import { UserError } from '../base/errors.js';
import { drawNumber, randomOf, type Random, type Range } from './random.js';

/** One setting, and what is tried of it. */
export interface Axis {
  name: string;
  /** As they were typed; empty where `range` says what is drawn. */
  values: readonly string[];
  range?: Range;
}

/** What one trial has of each setting, by the names of the axes and in their order. */
export type Values = Readonly<Record<string, string>>;

/** Of what is drawn, where no other seed is given. */
export const usualSeed = 1;

/** Trials of one sweep. */
const mostTrials = 1000;

const number = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const rangeText = new RegExp(String.raw`^(${number})\.\.(${number})(:log)?$`);

/**
 * `lr=0.1,0.01`; with `;` between values that have commas themselves. `lr=1e-4..0.1`, or
 * `lr=1e-4..0.1:log`, is a range to draw from. Dashes before the name are left out.
 * UserError (usage).
 */
export function axisOf(text: string): Axis {
  const [, name, list = ''] = /^-*([A-Za-z_][\w-]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) {
    throw new UserError('usage', `"${text}" is no setting to try`, 'Write name=value,value');
  }
  const found = rangeText.exec(list.trim());
  if (found) return { name, values: [], range: rangeOf(name, found) };
  const values = list.split(list.includes(';') ? ';' : ',').map((value) => value.trim());
  if (values.includes('')) {
    throw new UserError('usage', `a value of ${name} is empty in "${text}"`, 'Write name=value,value');
  }
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined) {
    throw new UserError('usage', `${name} has the value ${twice} twice`, 'Give each value once');
  }
  return { name, values };
}

function rangeOf(name: string, [, lowText = '', highText = '', log]: RegExpExecArray): Range {
  const [low, high] = [Number(lowText), Number(highText)];
  if (low >= high) {
    throw new UserError('usage', `the range of ${name} is empty`, 'Write the smaller number first');
  }
  if (log !== undefined && low <= 0) {
    const what = `the range of ${name} begins at ${lowText}, and a logarithm needs more than 0`;
    throw new UserError('usage', what, 'Begin above 0');
  }
  const whole = [lowText, highText].every((text) => /^[+-]?\d+$/.test(text));
  return { low, high, log: log !== undefined, whole };
}

/** The axes, each name once. `hint` is for whoever names none. UserError (usage). */
export function axesOf(texts: readonly string[], hint = 'Name a setting and its values'): Axis[] {
  const axes = texts.map(axisOf);
  if (axes.length === 0) {
    throw new UserError('usage', 'nothing says which settings to try', hint);
  }
  const twice = axes.find(({ name }, at) => axes.findIndex((one) => one.name === name) !== at);
  if (twice === undefined) return axes;
  throw new UserError('usage', `${twice.name} is given twice`, 'Give all of its values at once');
}

/** Of all values; a range has no end of them. */
export const combinations = (axes: readonly Axis[]): number =>
  axes.some(({ range }) => range) ? Infinity : axes.reduce((all, { values }) => all * values.length, 1);

/**
 * Every combination, the last axis changing fastest; or `random.count` different ones that are
 * drawn. UserError (usage) for a range of which nothing is drawn, and for too many.
 */
export function valuesOf(axes: readonly Axis[], random?: { count: number; seed: number }): Values[] {
  const count = combinations(axes);
  if (random && random.count < count) {
    assertCount(random.count);
    return drawn(axes, random.count, random.seed);
  }
  const range = axes.find(({ range }) => range);
  if (range) {
    const what = `${range.name} is a range, which has no end of values`;
    throw new UserError('usage', what, 'Ask for a number of trials that are drawn');
  }
  assertCount(count);
  return axes.reduce<Values[]>(
    (all, { name, values }) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}

function assertCount(count: number): void {
  if (count <= mostTrials) return;
  const what = `${count} trials are more than ${mostTrials}`;
  throw new UserError('usage', what, 'Ask for a number of trials that are drawn');
}

/** Tries for each trial, where ranges of whole numbers have few of them. */
const mostDraws = 1000;

function drawn(axes: readonly Axis[], count: number, seed: number): Values[] {
  const random = randomOf(seed);
  const found = new Map<string, Values>();
  for (let draws = 0; found.size < count && draws < count * mostDraws; draws++) {
    const values = Object.fromEntries(axes.map((axis) => [axis.name, draw(axis, random)]));
    found.set(JSON.stringify(values), values);
  }
  return [...found.values()];
}

const draw = ({ values, range }: Axis, random: Random): string =>
  range ? drawNumber(range, random) : (values[Math.floor(random() * values.length)] ?? '');

/** `lr=0.1, batch-size=32`. */
export const valuesText = (values: Values): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
