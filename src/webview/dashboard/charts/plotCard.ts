// A card with a plot of one view: its name, its legend, its table, and its images to save.
import { html, nothing, type TemplateResult } from 'lit';
import { Section } from '../elements/section.js';
import { saveMenu, type ChartSource } from '../save/saveMenu.js';
import { firstRows, tableBox, type TableRows } from './tableBox.js';

/** What draws the view on a canvas. */
interface CardPlot<V> {
  update(view: V): void;
  resize(): void;
  destroy(): void;
  /** Where to, or by how much, is the plot's own affair; `undefined` takes the crosshair away. */
  moveCursor(to: number | undefined): void;
}

/** Called with a place on the x axis, or with what the x axes are to show. */
export type OnCursor = (at: number | undefined) => void;
export type OnZoom = (zoom: [number, number] | undefined) => void;

/** What stands around the plot. */
export interface CardText {
  /** Of the element that names the card. */
  id: string;
  heading: TemplateResult;
  /** Where the crosshair is; without one, what the legend's values are of. */
  place: TemplateResult | string;
  legend: TemplateResult[];
  /** Lines that the legend leaves out. */
  more: number;
  /** The chart in words. */
  summary: string;
  /** Over a plot without lines. */
  empty?: string;
  saved: ChartSource;
}

/** The table: at most about `most` rows of `all`. */
export interface CardTable {
  title: string;
  all: number;
  rows: (most: number) => TableRows;
}

/** `P` draws `V`. Dispatches `table-toggle` with the name under which the chart is saved. */
export abstract class PlotCard<V, P extends CardPlot<V>> extends Section {
  static override properties = {
    view: { attribute: false },
    tableOpen: { attribute: false },
    zoom: { attribute: false },
    at: { state: true },
    allRows: { state: true },
  };
  declare view: V;
  declare tableOpen: boolean;
  /** Called with what the x axes are to show, in their unit. */
  declare zoom: OnZoom;
  /** Where the crosshair is, in the unit of the x axis. */
  declare at: number | undefined;
  /** The table has all rows, not the first ones alone. */
  declare allRows: boolean;
  protected plot: P | undefined;
  private resizes: ResizeObserver | undefined;

  constructor() {
    super();
    this.allRows = false;
  }

  protected abstract makePlot(host: HTMLElement, onCursor: OnCursor, onZoom: OnZoom): P;
  protected abstract text(): CardText;
  protected abstract tableOf(): CardTable;
  /** An arrow key: to the left or to the right, by a step or by a leap. */
  protected abstract moveCursor(sign: -1 | 1, leap: boolean): void;

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
    this.plot = this.makePlot(host, onCursor, (zoom) => {
      this.zoom(zoom);
    });
    this.resizes = new ResizeObserver(() => this.plot?.resize());
    this.resizes.observe(host);
  }

  protected override render(): TemplateResult {
    const { id, heading, place, legend, more, summary, empty, saved } = this.text();
    return html`<section class="card" aria-labelledby=${id}>
      <div class="cardhead">
        ${heading}
        <p class=${this.at === undefined ? 'at' : 'at cursor'} aria-hidden="true">${place}</p>
        <button type="button" class="toggle" aria-pressed=${this.tableOpen} @click=${this.onTable}>
          <span class="codicon codicon-table" aria-hidden="true"></span>Table
        </button>
        ${saveMenu(this, saved)}
      </div>
      <ul class="legend" aria-hidden="true">
        ${legend} ${more > 0 ? html`<li>and ${more} more</li>` : nothing}
      </ul>
      <div class="plotbox">
        <div
          class="plot"
          tabindex="0"
          role="group"
          aria-roledescription="chart"
          aria-label="${summary}. Arrow keys move the crosshair, Escape resets."
          @keydown=${this.onKey}
          @blur=${() => {
            this.plot?.moveCursor(undefined);
          }}
        ></div>
        ${empty === undefined ? nothing : html`<p class="nolines">${empty}</p>`}
        ${this.tableOpen ? this.table() : nothing}
      </div>
    </section>`;
  }

  private table(): TemplateResult {
    const { title, all, rows } = this.tableOf();
    const showAll = (): void => {
      this.allRows = true;
    };
    return tableBox(
      title,
      rows(this.allRows ? Infinity : firstRows),
      all,
      this.allRows ? undefined : showAll,
    );
  }

  private readonly onTable = (): void => {
    const detail = this.text().saved.name;
    this.dispatchEvent(new CustomEvent('table-toggle', { bubbles: true, detail }));
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowLeft') this.moveCursor(-1, event.shiftKey);
    else if (event.key === 'ArrowRight') this.moveCursor(1, event.shiftKey);
    else if (event.key === 'Escape') {
      this.plot?.moveCursor(undefined);
      this.zoom(undefined);
    } else return;
    event.preventDefault();
  };
}
