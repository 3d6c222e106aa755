// A chart with its name, its legend, and its table.
import { html, nothing, type TemplateResult } from 'lit';
import type { ChartGroup, Drawable } from './chartGroup.js';
import { chartTable, legendAt, summary, type ChartSpec, type LegendItem } from './chartSpecs.js';
import { count, elapsed, plural } from '../model/format.js';
import { figuresOf, pictureOf } from './savedChart.js';
import { saveMenu } from '../save/saveMenu.js';
import { Plot } from './plot.js';
import { firstRows, tableBox } from './tableBox.js';
import type { XAxis } from '../model/viewState.js';
import { define, Section } from '../elements/section.js';

/** A table, or a summary read aloud, that changed ten times a second could not be read. */
const readingInterval = 2000;

class ChartCard extends Section implements Drawable {
  static override properties = {
    spec: { attribute: false },
    group: { attribute: false },
    tableOpen: { attribute: false },
    smoothing: { attribute: false },
    logLoss: { attribute: false },
    allValues: { attribute: false },
    axis: { attribute: false },
    outside: { state: true },
    allRows: { state: true },
    row: { state: true },
    drawn: { state: true },
  };
  declare spec: ChartSpec;
  declare group: ChartGroup;
  declare tableOpen: boolean;
  declare smoothing: number;
  declare logLoss: boolean;
  declare allValues: boolean;
  declare axis: XAxis;
  /** Values outside the y axis. */
  declare outside: number;
  /** The table has all rows, not the newest alone. */
  declare allRows: boolean;
  /** Under the crosshair. */
  declare row: number | null;
  declare drawn: number;
  private plot: Plot | undefined;
  /** What the plot was made for; another makes it anew. */
  private madeFor = '';
  private resizes: ResizeObserver | undefined;
  private reading: { at: number; text: string; table: TemplateResult } | undefined;

  constructor() {
    super();
    this.row = null;
    this.drawn = 0;
    this.outside = 0;
    this.allRows = false;
  }

  get visible(): boolean {
    return this.near && this.plot !== undefined;
  }

  get pointed(): boolean {
    return this.row !== null;
  }

  draw(): void {
    this.plot?.draw();
    this.drawn = performance.now();
  }

  redraw(): void {
    this.plot?.redraw();
    this.requestUpdate();
  }

  moveCursor(x: number | undefined): void {
    this.plot?.moveCursor(x);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.mount();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.group.remove(this);
    this.resizes?.disconnect();
    this.plot?.destroy();
    this.plot = undefined;
  }

  protected override firstUpdated(): void {
    this.mount();
  }

  protected override updated(): void {
    if (this.near) this.group.appeared();
    if (!this.plot || this.kind === this.madeFor) return;
    this.madeFor = this.kind;
    this.plot.rebuild();
    this.reading = undefined;
  }

  private get kind(): string {
    return `${this.smoothing > 0} ${this.spec.canLog === true && this.logLoss} ${this.axis} ${this.allValues}`;
  }

  private mount(): void {
    const host = this.querySelector<HTMLElement>('.plot');
    if (!host) return;
    this.madeFor = this.kind;
    this.plot = new Plot(
      host,
      this.spec,
      this.group,
      (row) => {
        this.row = row;
      },
      (hidden) => {
        this.outside = hidden;
      },
    );
    this.resizes = new ResizeObserver(() => this.plot?.resize());
    this.resizes.observe(host);
    this.group.add(this);
  }

  protected override render(): TemplateResult {
    const { spec, group } = this;
    const { data, model } = group;
    const row = this.row ?? data.length - 1;
    const at = data.steps.step[row];
    const reading = this.read();
    return html`<section class="card" aria-labelledby="chart-${spec.id}">
      <div class="cardhead">
        <h3 id="chart-${spec.id}">${spec.title}</h3>
        <p class=${this.row === null ? 'at' : 'at cursor'} aria-hidden="true">${this.place(row, at)}</p>
        ${
          spec.canLog
            ? html`<button type="button" class="toggle" aria-pressed=${this.logLoss} @click=${this.onLog}>
                log
              </button>`
            : nothing
        }
        <button type="button" class="toggle" aria-pressed=${this.tableOpen} @click=${this.onTable}>
          <span class="codicon codicon-table" aria-hidden="true"></span>Table
        </button>
        ${saveMenu(this, {
          name: spec.id,
          title: spec.title,
          picture: () => pictureOf(spec, group, this.plot?.yShown ?? [0, 1]),
          csv: () => figuresOf(spec, group),
        })}
      </div>
      <div class="legendrow">
        <ul class="legend" aria-hidden="true">
          ${legendAt(spec, data, model, row).map(legendItem)}
        </ul>
        ${this.outliers()}
      </div>
      <div class="plotbox">
        <div
          class="plot"
          tabindex="0"
          role="group"
          aria-roledescription="chart"
          aria-label="${reading.text}. Arrow keys move the crosshair, plus and minus zoom, Escape resets."
          @keydown=${this.onKey}
          @blur=${() => {
            this.group.moveCursor(undefined);
          }}
        ></div>
        ${this.tableOpen ? reading.table : nothing}
      </div>
    </section>`;
  }

  /** Where the crosshair is, or the newest row: its step, and its place on the x axis. */
  private place(row: number, step: number | undefined): TemplateResult {
    const { data } = this.group;
    if (step === undefined) return html`step <b></b>`;
    const x =
      this.axis === 'epoch' ? `epoch ${(data.steps.epoch[row] ?? 0).toFixed(2)}` : elapsed(data.seconds(row));
    return html`step <b>${count(step)}</b><span class="x"> · ${x}</span>`;
  }

  private outliers(): TemplateResult | typeof nothing {
    if (this.spec.canHideOutliers !== true || (this.outside === 0 && !this.allValues)) return nothing;
    const text = this.allValues ? 'Hide outliers' : `${plural(this.outside, 'outlier')} hidden`;
    const title = this.allValues
      ? 'Leave a few values that lie far outside out of sight'
      : 'A few values lie far outside. Show them too';
    return html`<button type="button" class="toggle outliers" title=${title} @click=${this.onOutliers}>
      ${text}
    </button>`;
  }

  private readonly onOutliers = (): void => {
    this.dispatchEvent(new CustomEvent('outliers-toggle', { bubbles: true }));
  };

  private read(): { text: string; table: TemplateResult } {
    const now = performance.now();
    if (this.reading && now - this.reading.at < readingInterval) return this.reading;
    const { spec, group } = this;
    const rows = chartTable(spec, group.data, group.model, this.allRows ? Infinity : firstRows);
    const table = tableBox(spec.title, rows, group.data.length, () => {
      this.reading = undefined;
      this.allRows = true;
    });
    this.reading = { at: now, text: summary(spec, group.data, group.model), table };
    return this.reading;
  }

  private readonly onLog = (): void => {
    this.dispatchEvent(new CustomEvent('log-toggle', { bubbles: true }));
  };

  private readonly onTable = (): void => {
    this.reading = undefined;
    this.dispatchEvent(new CustomEvent('table-toggle', { bubbles: true, detail: this.spec.id }));
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const rows = event.shiftKey ? Math.max(1, Math.round(this.group.data.length / 20)) : 1;
    switch (event.key) {
      case 'ArrowLeft':
        this.group.moveCursor(-rows);
        break;
      case 'ArrowRight':
        this.group.moveCursor(rows);
        break;
      case '+':
      case '=':
        this.group.zoomBy(0.5);
        break;
      case '-':
        this.group.zoomBy(2);
        break;
      case 'Escape':
        this.group.moveCursor(undefined);
        this.group.setZoom(undefined);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
}

/** Smoothed, as the line is, and as measured. */
const legendItem = ({ label, color, value, smoothed }: LegendItem): TemplateResult =>
  smoothed === undefined
    ? html`<li><i class="swatch ${color}"></i>${label} <b>${value}</b></li>`
    : html`<li title="Smoothed, and in brackets as measured">
        <i class="swatch ${color}"></i>${label} <b>${smoothed}</b> <span class="raw">(${value})</span>
      </li>`;

define('trainyard-chart', ChartCard);
