// Everything that an own program reported: a series for each writer and tag, and which of them are
// images/s and loss.
import type { FigureLine } from '../../contracts/figureSchema.js';
import { FigureSeries } from './figureSeries.js';

/** Curves kept; the agent writes no more. */
const mostSeries = 2000;

/** As names are compared: `Images per_sec` and `images_per_sec` are one. */
const plain = (tag: string): string => tag.toLowerCase().replace(/[^a-z0-9/]/g, '');
const rate =
  /(^|\/)((train|training|total|global|overall)?(images|image|imgs|img|samples|examples)(\/s|\/sec|\/second|pers|persec|persecond|ps)|(total|global|overall)?throughput|ips)$/;
const loss = /(^|\/)(train|training|total)?loss$/;
const ofEvaluation = /(^|\/)(eval|evaluation|val|valid|validation|test)\//;

/** Of images/s that are those of all processes, by their name. */
const ofWholeRun = /(^|\/)(total|global|overall)[a-z0-9]*(\/s|\/sec|\/second)?$/;

/** Whether a tag's figures are images/s, by its name. */
export const isRate = (tag: string): boolean => rate.test(plain(tag)) && !ofEvaluation.test(plain(tag));
/** Whether a tag's figures are the loss of training, by its name. */
export const isLoss = (tag: string): boolean => loss.test(plain(tag)) && !ofEvaluation.test(plain(tag));

/** One curve: whose, of what. */
export interface NamedSeries {
  writer: string;
  tag: string;
  series: FigureSeries;
}

/** What figures.jsonl comes to, kept as the lines come; bounded, however long the run. */
export class Figures {
  private readonly known = new Map<string, NamedSeries>();
  private newestStep: number | undefined;
  /** Of each writer and tag that is a loss: since which step it is no number. */
  private readonly lostSince = new Map<string, number>();

  /** Lines in the order of the file. */
  add(line: FigureLine): void {
    const key = `${line.writer}\n${line.tag}`;
    let named = this.known.get(key);
    if (!named) {
      if (this.known.size >= mostSeries) return;
      named = { writer: line.writer, tag: line.tag, series: new FigureSeries() };
      this.known.set(key, named);
    }
    if (!named.series.push(line)) return;
    this.newestStep = line.step;
    if (line.value !== null) this.lostSince.delete(key);
    else if (isLoss(line.tag)) {
      this.lostSince.set(key, Math.min(line.step, this.lostSince.get(key) ?? line.step));
    }
  }

  get all(): readonly NamedSeries[] {
    return [...this.known.values()];
  }

  get size(): number {
    return this.known.size;
  }

  /** Of the newest figure. */
  get step(): number | undefined {
    return this.newestStep;
  }

  /** Of the whole run: the sum of what each writer reports, since each is taken to report its own. */
  get imagesPerSec(): number | undefined {
    return sumOf(this.rated().map((series) => series.last?.value));
  }

  /** How many writers `imagesPerSec` and `rates` are the sum of. */
  get rateWriters(): number {
    return this.rated().length;
  }

  /** Of several writers that of the first, by name. */
  get loss(): number | undefined {
    return this.first(isLoss)?.series.last?.value ?? undefined;
  }

  /** The step since which that loss is no number; undefined while it is one. */
  get lossLostSince(): number | undefined {
    const first = this.first(isLoss);
    return first && this.lostSince.get(`${first.writer}\n${first.tag}`);
  }

  /**
   * Mean and median of the program's images/s: the sum of those of each writer; undefined where it
   * reports none.
   */
  rates(): { mean: number; median: number } | undefined {
    const each = this.rated().map(({ values }) => centreOf(values));
    const mean = sumOf(each.map((one) => one?.mean));
    const median = sumOf(each.map((one) => one?.median));
    return mean === undefined || median === undefined ? undefined : { mean, median };
  }

  /**
   * One series of each writer: those with the tag of the first, of its newest generation. That alone
   * where the tag says that it is of all processes.
   */
  private rated(): readonly FigureSeries[] {
    const first = this.first(isRate);
    if (!first) return [];
    if (ofWholeRun.test(plain(first.tag))) return [first.series];
    const all = this.all.filter(
      ({ writer, tag }) => tag === first.tag && !ofEvaluation.test(plain(`${writer}/${tag}`)),
    );
    const newest = Math.max(...all.map(({ series }) => series.last?.generation ?? 0));
    const standing = all.filter(({ series }) => series.last?.generation === newest);
    return standing.map(({ series }) => series);
  }

  /** By name of the writer, then of the tag. */
  private first(is: (tag: string) => boolean): NamedSeries | undefined {
    const order = ({ writer, tag }: NamedSeries): string => `${writer}\n${tag}`;
    return this.all
      .filter(({ writer, tag }) => is(tag) && !ofEvaluation.test(plain(`${writer}/${tag}`)))
      .reduce<NamedSeries | undefined>((a, b) => (a && order(a) <= order(b) ? a : b), undefined);
  }
}

/** Undefined where there is none. */
function sumOf(values: readonly (number | null | undefined)[]): number | undefined {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value, 0);
}

function centreOf(values: readonly number[]): { mean: number; median: number } | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (lower === undefined || upper === undefined) return undefined;
  return { mean: (sumOf(sorted) ?? 0) / sorted.length, median: (lower + upper) / 2 };
}
