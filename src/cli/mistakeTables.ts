// What a model gets wrong, as tables in the terminal.
import { oneLine } from '../core/base/errors.js';
import { plural } from '../core/base/plural.js';
import { accuracyOf, type Mistakes } from '../core/checkpoints/mistakes.js';
import { percentText, table } from './format.js';

/** Rows of a table; JSON has more. */
const mostRows = 10;

/** How many are right. Where any is wrong, also the least accurate classes and the confusions. */
export function mistakeLines(mistakes: Mistakes): string[] {
  const { images, right, unlabelled, classes, confusions, surest } = mistakes;
  const others = unlabelled === 0 ? '' : `, and ${plural(unlabelled, 'picture')} in no class folder`;
  const share = percentText(accuracyOf(mistakes));
  const first = `right: ${right} of ${plural(images, 'picture')} in class folders, ${share}${others}`;
  if (right === images) return [first];
  const scores = classes.map((each) => [
    each.class,
    String(each.right),
    String(each.images),
    percentText(accuracyOf(each)),
  ]);
  const pairs = confusions.map((each) => [each.class, each.predicted, String(each.images)]);
  const pictures = surest.map((each) => [
    percentText(each.probability),
    each.class,
    each.predicted,
    each.file,
  ]);
  return [
    first,
    ...rows('least accurate classes', ['CLASS', 'RIGHT', 'PICTURES', 'ACCURACY'], scores, [1, 2, 3]),
    ...rows('most frequent mistakes', ['CLASS', 'TAKEN FOR', 'PICTURES'], pairs, [2]),
    ...rows('surest mistakes', ['SURE', 'CLASS', 'TAKEN FOR', 'PICTURE'], pictures, [0]),
  ];
}

function rows(
  title: string,
  head: readonly string[],
  all: readonly (readonly string[])[],
  right: readonly number[],
): string[] {
  // Names are of a node or a file.
  const cells = all.slice(0, mostRows).map((row) => row.map(oneLine));
  return ['', `${title}:`, ...table(head, cells, right)];
}
