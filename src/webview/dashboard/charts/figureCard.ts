// A chart of an own program's figures, with its name, its legend, and its table.
import { html, nothing, type TemplateResult } from 'lit';
import { count } from '../model/format.js';
import { define, Section } from '../elements/section.js';
import { FigurePlot, type FigureView } from './figurePlot.js';
import { figureLegend, figureSummary, figureTable, lastStep, mostNamed } from './figureGroups.js';
import { rowAt } from './figureAxis.js';
import { figureCsv, figurePicture } from './savedFigure.js';
import { saveMenu } from '../save/saveMenu.js';
import { firstRows, tableBox } from './tableBox.js';

class FigureCard extends Section {
  static override properties = {
    view: { attribute: false },
    tableOpen: { attribute: false },
    zoom: { attribute: false },
    at: { state: true },
    allRows: { state: true },
  };
  declare view: FigureView;
  declare tableOpen: boolean;
  /** Called with what the x axes are to show, in their unit. */
  declare zoom: (zoom: [number, number] | undefined) => void;
  /** Under the crosshair, in the unit of the x axis. */
  declare at: number | undefined;
  /** The table has all rows, not the newest alone. */
  declare allRows: boolean;
  private plot: FigurePlot | undefined;
  private resizes: ResizeObserver | undefined;

  constructor() {
    super();
    this.allRows = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.mount();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes?.disconnect();
    this.plot?.destroy();
    this.plot = undefined;
  }

  protected override firstUpdated(): void {
    this.mount();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('view')) this.plot?.update(this.view);
  }

  private mount(): void {
    const host = this.querySelector<HTMLElement>('.plot');
    if (!host) return;
    const onCursor = (at: number | undefined): void => {
      this.at = at;
    };
    this.plot = new FigurePlot(host, this.view, onCursor, (zoom) => {
      this.zoom(zoom);
    });
    this.resizes = new ResizeObserver(() => this.plot?.resize());
    this.resizes.observe(host);
  }

  protected override render(): TemplateResult {
    const { chart, axis } = this.view;
    const [first] = chart.series;
    const step = this.at === undefined ? lastStep(chart) : first?.step[rowAt(first, axis, this.at)];
    const id = `figure-${chart.tag}`;
    const more = chart.series.length - mostNamed;
    return html`<section class="card" aria-labelledby=${id}>
      <div class="cardhead">
        <h4 id=${id} title=${chart.tag}>${chart.title}</h4>
        <p class=${this.at === undefined ? 'at' : 'at cursor'} aria-hidden="true">
          step <b>${step === undefined ? '' : count(step)}</b>
        </p>
        <button type="button" class="toggle" aria-pressed=${this.tableOpen} @click=${this.onTable}>
          <span class="codicon codicon-table" aria-hidden="true"></span>Table
        </button>
        ${saveMenu(this, {
          name: chart.tag,
          title: chart.tag,
          picture: () => figurePicture(this.view, this.plot?.yShown ?? [0, 1]),
          csv: () => figureCsv(chart, axis.origin),
        })}
      </div>
      <ul class="legend" aria-hidden="true">
        ${figureLegend(chart, axis, this.at).map(
          ({ label, color, value }) => html`<li><i class="swatch ${color}"></i>${label} <b>${value}</b></li>`,
        )}
        ${more > 0 ? html`<li>and ${more} more</li>` : nothing}
      </ul>
      <div class="plotbox">
        <div
          class="plot"
          tabindex="0"
          role="group"
          aria-roledescription="chart"
          aria-label="${figureSummary(chart, axis)}. Arrow keys move the crosshair, Escape resets."
          @keydown=${this.onKey}
          @blur=${() => {
            this.plot?.moveCursor(undefined);
          }}
        ></div>
        ${this.tableOpen ? this.table() : nothing}
      </div>
    </section>`;
  }

  private table(): TemplateResult {
    const { chart, axis } = this.view;
    const rows = figureTable(chart, axis, this.allRows ? Infinity : firstRows);
    return tableBox(chart.tag, rows, chart.series[0]?.step.length ?? 0, () => {
      this.allRows = true;
    });
  }

  private readonly onTable = (): void => {
    this.dispatchEvent(new CustomEvent('table-toggle', { bubbles: true, detail: this.view.chart.tag }));
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const points = event.shiftKey ? 20 : 1;
    if (event.key === 'ArrowLeft') this.plot?.moveCursor(-points);
    else if (event.key === 'ArrowRight') this.plot?.moveCursor(points);
    else if (event.key === 'Escape') {
      this.plot?.moveCursor(undefined);
      this.zoom(undefined);
    } else return;
    event.preventDefault();
  };
}

define('trainyard-figure', FigureCard);
