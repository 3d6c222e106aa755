// What a model gets wrong, where pictures lie in folders that are named after their classes.
import { resolve } from 'node:path';
import type { Prediction } from './predict.js';

/** Pictures of one class: all of them, and those that the model takes for it. */
export interface ClassScore {
  class: string;
  images: number;
  right: number;
}

/** So many pictures of a class are taken for another one. */
export interface Confusion {
  class: string;
  predicted: string;
  images: number;
}

/** A picture that is taken for the wrong class. `probability`: of that class, from 0 to 1. */
export interface WrongPicture {
  file: string;
  class: string;
  predicted: string;
  probability: number;
}

/** `unlabelled` counts pictures that lie in no folder of a class. They are not in `images`. */
export interface Mistakes {
  images: number;
  right: number;
  unlabelled: number;
  /** Of each class that has pictures, the least accurate first. */
  classes: ClassScore[];
  /** The most frequent first, at most `mostConfusions`. */
  confusions: Confusion[];
  /** The most probable first, at most `mostSurest`. */
  surest: WrongPicture[];
}

/** How many confusions a result has at most. */
export const mostConfusions = 100;
/** How many wrong pictures a result has at most. */
export const mostSurest = 20;

/** The name of the folder in which a file lies, on a node or on this machine; else empty. */
const folderNameOf = (file: string): string => file.split(/[/\\]/).at(-2) ?? '';

/** The same text in memory of its own. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/**
 * Counts predictions one after the other, for more of them than fit into memory. It keeps a number
 * for each class and each confusion, and the most probable wrong pictures. A name that it is given
 * may be a slice of a long text, and a slice keeps the whole text in memory. So the count keeps the
 * model's own names, and copies of paths.
 */
export class MistakeCount {
  /** The model's own string of each name. */
  private readonly known: ReadonlyMap<string, string>;
  private readonly classes = new Map<string, ClassScore>();
  private readonly confusions = new Map<string, Map<string, Confusion>>();
  private readonly surest: WrongPicture[] = [];
  private images = 0;
  private right = 0;
  private unlabelled = 0;

  /** `classNames`: what the model knows. */
  constructor(classNames: readonly string[]) {
    this.known = new Map(classNames.map((name) => [name, name]));
  }

  /** Whether the model has such a class. */
  knows(name: string): boolean {
    return this.known.has(name);
  }

  /**
   * `taken` is the likeliest class, of those that the model knows. `folder`: the folder's name,
   * where `file` may lack it.
   */
  add(file: string, taken: string, probability: number, folder = folderNameOf(file)): void {
    const label = this.known.get(folder);
    const predicted = this.known.get(taken) ?? taken;
    if (label === undefined) {
      this.unlabelled++;
      return;
    }
    this.images++;
    const score = this.classes.get(label) ?? { class: label, images: 0, right: 0 };
    this.classes.set(label, score);
    score.images++;
    if (predicted === label) {
      this.right++;
      score.right++;
      return;
    }
    const others = this.confusions.get(label) ?? new Map<string, Confusion>();
    this.confusions.set(label, others);
    const confusion = others.get(predicted) ?? { class: label, predicted, images: 0 };
    others.set(predicted, confusion);
    confusion.images++;
    this.keep({ file, class: label, predicted, probability });
  }

  /** Undefined where no picture lies in a folder of a class. */
  get result(): Mistakes | undefined {
    if (this.images === 0) return undefined;
    const { images, right, unlabelled } = this;
    const confusions = [...this.confusions.values()].flatMap((others) => [...others.values()]);
    return {
      ...{ images, right, unlabelled },
      classes: [...this.classes.values()].sort(
        (a, b) => accuracyOf(a) - accuracyOf(b) || b.images - a.images || compareNames(a.class, b.class),
      ),
      confusions: confusions
        .sort(
          (a, b) =>
            b.images - a.images || compareNames(a.class, b.class) || compareNames(a.predicted, b.predicted),
        )
        .slice(0, mostConfusions),
      surest: [...this.surest],
    };
  }

  private keep(wrong: WrongPicture): void {
    const { surest } = this;
    const last = surest.at(-1);
    if (surest.length === mostSurest && last && last.probability >= wrong.probability) return;
    const at = surest.findIndex(({ probability }) => probability < wrong.probability);
    surest.splice(at < 0 ? surest.length : at, 0, { ...wrong, file: copyOf(wrong.file) });
    if (surest.length > mostSurest) surest.pop();
  }
}

/** The part of the pictures that is right, from 0 to 1. */
export const accuracyOf = ({ images, right }: { images: number; right: number }): number =>
  images === 0 ? 0 : right / images;

/**
 * Of predictions that are in memory, for files of this machine. A file that is no picture does not
 * count.
 */
export function mistakesOf(
  predictions: readonly Prediction[],
  classNames: readonly string[],
): Mistakes | undefined {
  const count = new MistakeCount(classNames);
  for (const { file, top5 } of predictions) {
    const [first] = top5;
    if (first) count.add(file, first.class, first.probability, folderNameOf(resolve(file)));
  }
  return count.result;
}

const compareNames = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
