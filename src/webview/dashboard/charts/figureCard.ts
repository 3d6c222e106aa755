// A chart of an own program's figures, with its name, its legend, and its table.
import { html } from 'lit';
import { count } from '../model/format.js';
import { define } from '../elements/section.js';
import { FigurePlot, type FigureView } from './figurePlot.js';
import { figureLegend, figureSummary, figureTable, lastStep, mostNamed } from './figureGroups.js';
import { rowAt } from './figureAxis.js';
import { PlotCard, type CardTable, type CardText, type OnCursor, type OnZoom } from './plotCard.js';
import { figureCsv, figurePicture } from './savedFigure.js';

class FigureCard extends PlotCard<FigureView, FigurePlot> {
  protected makePlot(host: HTMLElement, onCursor: OnCursor, onZoom: OnZoom): FigurePlot {
    return new FigurePlot(host, this.view, onCursor, onZoom);
  }

  protected text(): CardText {
    const { chart, axis } = this.view;
    const [first] = chart.series;
    const step = this.at === undefined ? lastStep(chart) : first?.step[rowAt(first, axis, this.at)];
    const id = `figure-${chart.tag}`;
    return {
      id,
      heading: html`<h4 id=${id} title=${chart.tag}>${chart.title}</h4>`,
      place: html`step <b>${step === undefined ? '' : count(step)}</b>`,
      legend: figureLegend(chart, axis, this.at).map(
        ({ label, color, value }) => html`<li><i class="swatch ${color}"></i>${label} <b>${value}</b></li>`,
      ),
      more: chart.series.length - mostNamed,
      summary: figureSummary(chart, axis),
      saved: {
        name: chart.tag,
        title: chart.tag,
        picture: () => figurePicture(this.view, this.plot?.yShown ?? [0, 1]),
        csv: () => figureCsv(chart, axis.runTime),
      },
    };
  }

  protected tableOf(): CardTable {
    const { chart, axis } = this.view;
    return {
      title: chart.tag,
      all: chart.series[0]?.step.length ?? 0,
      rows: (most) => figureTable(chart, axis, most),
    };
  }

  protected moveCursor(sign: -1 | 1, leap: boolean): void {
    this.plot?.moveCursor(sign * (leap ? 20 : 1));
  }
}

define('trainyard-figure', FigureCard);
