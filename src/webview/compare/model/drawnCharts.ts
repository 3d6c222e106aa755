// The charts of the runs that are drawn, made once for each axis: a pointer that moves changes
// none.
import type { ComparisonUpdate } from '../../protocol.js';
import { chartsOf, type CompareChart } from './curves.js';
import type { CompareAxis } from './view.js';

export class DrawnCharts {
  private update: ComparisonUpdate | undefined;
  private rows = '';
  private readonly made = new Map<CompareAxis, CompareChart[]>();

  of(update: ComparisonUpdate, rows: readonly number[], axis: CompareAxis): CompareChart[] {
    const names = rows.join(' ');
    if (update !== this.update || names !== this.rows) {
      this.made.clear();
      Object.assign(this, { update, rows: names });
    }
    const known = this.made.get(axis);
    if (known) return known;
    const charts = chartsOf(update, rows, axis);
    this.made.set(axis, charts);
    return charts;
  }
}
