// A chart with its name, its legend, and its table.
import { html, nothing, type TemplateResult } from 'lit';
import type { ChartGroup, Drawable } from './chartGroup.js';
import { chartTable, legendAt, summary, type ChartSpec } from './chartSpecs.js';
import { count } from '../model/format.js';
import { Plot } from './plot.js';
import { tableBox } from './tableBox.js';
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
    row: { state: true },
    drawn: { state: true },
  };
  declare spec: ChartSpec;
  declare group: ChartGroup;
  declare tableOpen: boolean;
  declare smoothing: number;
  declare logLoss: boolean;
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
  }

  get visible(): boolean {
    return this.near && this.plot !== undefined;
  }

  draw(): void {
    this.plot?.draw();
    this.drawn = performance.now();
  }

  redraw(): void {
    this.plot?.redraw();
    this.requestUpdate();
  }

  moveCursor(seconds: number | undefined): void {
    this.plot?.moveCursor(seconds);
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
  }

  private get kind(): string {
    return `${this.smoothing > 0} ${this.spec.canLog === true && this.logLoss}`;
  }

  private mount(): void {
    const host = this.querySelector<HTMLElement>('.plot');
    if (!host) return;
    this.madeFor = this.kind;
    this.plot = new Plot(host, this.spec, this.group, (row) => {
      this.row = row;
    });
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
        <p class=${this.row === null ? 'at' : 'at cursor'} aria-hidden="true">
          step <b>${at === undefined ? '' : count(at)}</b>
        </p>
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
      </div>
      <ul class="legend" aria-hidden="true">
        ${legendAt(spec, data, model, row).map(
          ({ label, color, value }) => html`<li><i class="swatch ${color}"></i>${label} <b>${value}</b></li>`,
        )}
      </ul>
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
    </section>`;
  }

  private read(): { text: string; table: TemplateResult } {
    const now = performance.now();
    if (this.reading && now - this.reading.at < readingInterval) return this.reading;
    const { spec, group } = this;
    const { head, rows } = chartTable(spec, group.data, group.model);
    const table = tableBox(spec.title, { head, rows: rows.reverse() }, group.data.length);
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

define('trainyard-chart', ChartCard);
