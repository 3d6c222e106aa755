// What an own program reports, as lines for a person: one a report, with the newest of a few
// figures.
import type { FigureLine } from '../core/contracts/figureSchema.js';
import { isLoss, isRate } from '../core/model/series/figures.js';

/** Figures of one report come in several lines, which are waited for so long, milliseconds. */
const settle = 300;
/** Reports printed of those that came together. */
const mostReports = 10;
const mostFigures = 6;

const order = (tag: string): number => (isLoss(tag) ? 0 : isRate(tag) ? 1 : 2);
const text = (value: number | null): string =>
  value === null ? 'NaN/inf' : String(Number(value.toPrecision(5)));

/** One line on a report: its step, its writer, and the figures that say most. */
export function reportText(
  step: number,
  writer: string,
  figures: ReadonlyMap<string, number | null>,
): string {
  const tags = [...figures.keys()].sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
  const shown = tags.slice(0, mostFigures).map((tag) => `${tag} ${text(figures.get(tag) ?? null)}`);
  const more = tags.length > mostFigures ? [`${tags.length - mostFigures} more`] : [];
  return [`step ${step}`, ...(writer === '' ? [] : [writer]), ...shown, ...more].join('  ');
}

/** Puts the figures of a step together, and prints them when no more come. */
export class FigureReports {
  private readonly reports = new Map<
    string,
    { step: number; writer: string; figures: Map<string, number | null> }
  >();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly print: (text: string) => void) {}

  add({ step, writer, tag, value }: FigureLine): void {
    const key = `${step} ${writer}`;
    const report = this.reports.get(key) ?? { step, writer, figures: new Map<string, number | null>() };
    report.figures.set(tag, value);
    this.reports.set(key, report);
    this.timer ??= setTimeout(() => {
      this.flush();
    }, settle);
  }

  /** Prints what waits. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const reports = [...this.reports.values()].sort((a, b) => a.step - b.step);
    this.reports.clear();
    const left = reports.length - mostReports;
    if (left > 0) this.print(`${left} older ${left === 1 ? 'report' : 'reports'}`);
    for (const { step, writer, figures } of reports.slice(-mostReports)) {
      this.print(reportText(step, writer, figures));
    }
  }
}
