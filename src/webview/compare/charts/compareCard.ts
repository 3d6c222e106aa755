// One chart of a comparison: its name, its legend, its table, and its images to save.
import { html } from 'lit';
import {
  PlotCard,
  type CardTable,
  type CardText,
  type OnCursor,
  type OnZoom,
} from '../../dashboard/charts/plotCard.js';
import { define } from '../../dashboard/elements/section.js';
import { plural } from '../../dashboard/model/format.js';
import { axisNames, lastValue, placeText, tableOf, valueAt, valueText, xOf } from '../model/curves.js';
import { comparePicture, ComparePlot, type PlotView } from './comparePlot.js';
import { lineSample } from './lineSample.js';

/** Runs whose values stand above a chart; the table has all. */
const mostNamed = 8;

class CompareCard extends PlotCard<PlotView, ComparePlot> {
  protected makePlot(host: HTMLElement, onCursor: OnCursor, onZoom: OnZoom): ComparePlot {
    return new ComparePlot(host, this.view, onCursor, onZoom);
  }

  protected text(): CardText {
    const { chart, axis, palette, emphasized } = this.view;
    const id = `compare-${chart.name}`;
    const first = chart.lines.filter(({ row }) => row === emphasized);
    const named = [...first, ...chart.lines.filter(({ row }) => row !== emphasized)].slice(0, mostNamed);
    return {
      id,
      heading: html`<h3 id=${id} title=${chart.name}>${chart.title}</h3>`,
      place: this.at === undefined ? 'last' : placeText(axis, this.at),
      legend: named.map((line) => {
        const value = this.at === undefined ? lastValue(line) : valueAt(line, this.at);
        return html`<li>
          ${lineSample(line, palette)}<span class="runname">${line.label}</span>
          <b>${valueText(chart.name, value)}</b>
        </li>`;
      }),
      more: chart.lines.length - named.length,
      summary: this.summary(),
      ...(chart.lines.length === 0
        ? { empty: `No run that is shown has this over ${axisNames[axis]}.` }
        : {}),
      saved: { name: chart.name, title: chart.title, picture: () => comparePicture(this.view) },
    };
  }

  private summary(): string {
    const { chart } = this.view;
    const values = chart.lines
      .slice(0, mostNamed)
      .map((line) => `${line.label} ${valueText(chart.name, lastValue(line))}`);
    return `${chart.title} of ${plural(chart.lines.length, 'run')}, last values: ${values.join(', ')}`;
  }

  protected tableOf(): CardTable {
    const { chart, axis } = this.view;
    return {
      title: chart.title,
      all: xOf(chart).length,
      rows: (most) => tableOf(chart, axis, most),
    };
  }

  protected moveCursor(sign: -1 | 1, leap: boolean): void {
    const [low, high] = this.view.range;
    const by = (sign * ((high - low) * (leap ? 10 : 1))) / 100;
    const from = this.at ?? (sign < 0 ? high : low);
    this.plot?.moveCursor(Math.max(low, Math.min(high, from + by)));
  }
}

define('trainyard-compare-card', CompareCard);
