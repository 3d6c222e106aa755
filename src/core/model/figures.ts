// Everything that an own program reported: a series for each writer and tag, and which of them are
// images/s and loss.
import type { FigureLine } from '../contracts/figureSchema.js';
import { FigureSeries } from './figureSeries.js';

/** Curves kept; the agent writes no more. */
const mostSeries = 2000;

/** As names are compared: `Images per_sec` and `images_per_sec` are one. */
const plain = (tag: string): string => tag.toLowerCase().replace(/[^a-z0-9/]/g, '');
const rate =
  /(^|\/)((train|training)?(images|image|imgs|img|samples|examples)(\/s|\/sec|\/second|pers|persec|persecond|ps)|throughput|ips)$/;
const loss = /(^|\/)(train|training|total)?loss$/;
const ofEvaluation = /(^|\/)(eval|evaluation|val|valid|validation|test)\//;

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

  /** Lines in the order of the file. */
  add(line: FigureLine): void {
    const key = `${line.writer}\n${line.tag}`;
    let named = this.known.get(key);
    if (!named) {
      if (this.known.size >= mostSeries) return;
      named = { writer: line.writer, tag: line.tag, series: new FigureSeries() };
      this.known.set(key, named);
    }
    if (named.series.push(line)) this.newestStep = line.step;
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

  /** Of several writers that of the first, by name. */
  get imagesPerSec(): number | undefined {
    return this.first(isRate)?.last?.value ?? undefined;
  }

  get loss(): number | undefined {
    return this.first(isLoss)?.last?.value ?? undefined;
  }

  /** Mean and median of the program's images/s; undefined where it reports none. */
  rates(): { mean: number; median: number } | undefined {
    const values = this.first(isRate)?.values.sort((a, b) => a - b) ?? [];
    const [lower, upper] = [values[(values.length - 1) >> 1], values[values.length >> 1]];
    if (lower === undefined || upper === undefined) return undefined;
    return {
      mean: values.reduce((sum, value) => sum + value, 0) / values.length,
      median: (lower + upper) / 2,
    };
  }

  private first(is: (tag: string) => boolean): FigureSeries | undefined {
    const order = ({ writer, tag }: NamedSeries): string => `${writer}\n${tag}`;
    return this.all
      .filter(({ tag }) => is(tag))
      .reduce<NamedSeries | undefined>((a, b) => (a && order(a) <= order(b) ? a : b), undefined)?.series;
  }
}
