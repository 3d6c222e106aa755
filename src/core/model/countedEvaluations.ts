// Which evaluations tell how good a run is: those on the run's own images. The trainer's reader of
// the same rule is native/trainer/train/log/standing_evaluations.h.
import type { EvalLine } from '../contracts/metricsSchema.js';

/**
 * Judges the standing evaluations of one metrics.jsonl, in the order of the file. The own images
 * are those of the evaluator beside the training, else those that the run's record names. Where it
 * names none, they are those of the first evaluation. A line of an older trainer names no images,
 * and counts.
 */
export class CountedEvaluations {
  private own: string | undefined;

  /** `named`: the images that the run's record names; undefined where it names none. */
  constructor(private readonly named: () => string | undefined = () => undefined) {}

  /** Whether the line counts. */
  counts({ data, once }: Pick<EvalLine, 'data' | 'once'>): boolean {
    if (data === undefined) return true;
    if (once !== true) this.own = data;
    this.own ??= this.named() ?? data;
    return withoutSlashes(this.own) === withoutSlashes(data);
  }
}

/** A folder with and without slashes at its end is the same. */
const withoutSlashes = (path: string): string => path.replace(/(?<=.)\/+$/, '');

/** `on r1images, 300 images`: what an evaluation that does not count is of. */
export const otherImagesText = ({ data, images }: { data: string; images: number }): string =>
  `on ${withoutSlashes(data).split('/').at(-1) ?? data}, ${images.toLocaleString('en-US')} images`;
