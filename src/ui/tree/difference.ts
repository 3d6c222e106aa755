// How much a row's text differs from what stands there.

/**
 * `words`: it says something else. `figures`: a figure is another. `little`: all figures are within
 * a tenth of those that stand there, or within two percentage points.
 */
export type Difference = 'none' | 'little' | 'figures' | 'words';

const times = { s: 1, min: 60, h: 3600, d: 86_400 };
const time = /\d+ (?:s|min|h|d)\b/g;
/** Not within a name, such as mlp-4f2. */
const figure = /(?<![\w-])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w-])/g;

export function differenceOf(before: string, now: string): Difference {
  if (before === now) return 'none';
  const [old, young] = [parse(before), parse(now)];
  if (old.words !== young.words) return 'words';
  const isNear = old.figures.every(({ value, slack }, at) => {
    const other = young.figures[at]?.value ?? NaN;
    return Math.abs(value - other) <= Math.max(slack, 0.1 * Math.max(Math.abs(value), Math.abs(other)));
  });
  return isNear ? 'little' : 'figures';
}

/** A time of several units, such as `3 h 10 min`, is one figure, in seconds. */
function parse(text: string): { words: string; figures: { value: number; slack: number }[] } {
  const seconds = text
    .replace(time, (match) => {
      const [count, unit] = match.split(' ');
      return `${Number(count) * times[unit as keyof typeof times]}seconds`;
    })
    .replace(
      /(\d+)seconds(?: (\d+)seconds)?/g,
      (_, first, second) => `${Number(first) + Number(second ?? 0)} seconds`,
    );
  const figures = [...seconds.matchAll(figure)].map((match) => ({
    value: Number(match[0].replaceAll(',', '')),
    slack: seconds[match.index + match[0].length] === '%' ? 2 : 0,
  }));
  return { words: seconds.replace(figure, '0'), figures };
}
