// One chart of a comparison: its name, its legend, its table, and its images to save.
import { html, nothing, type TemplateResult } from 'lit';
import { firstRows, tableBox } from '../../dashboard/charts/tableBox.js';
import { define, Section } from '../../dashboard/elements/section.js';
import { plural } from '../../dashboard/model/format.js';
import { saveMenu } from '../../dashboard/save/saveMenu.js';
import { axisNames, lastValue, placeText, tableOf, valueAt, valueText } from '../model/curves.js';
import { comparePicture, ComparePlot, type PlotView } from './comparePlot.js';
import { lineSample } from './lineSample.js';

/** Runs whose values stand above a chart; the table has all. */
const mostNamed = 8;

class CompareCard extends Section {
  static override properties = {
    view: { attribute: false },
    tableOpen: { attribute: false },
    zoom: { attribute: false },
    at: { state: true },
    allRows: { state: true },
  };
  declare view: PlotView;
  declare tableOpen: boolean;
  /** Called with what the x axes are to show. */
  declare zoom: (zoom: [number, number] | undefined) => void;
  /** Where the crosshair is on the x axis. */
  declare at: number | undefined;
  declare allRows: boolean;
  private plot: ComparePlot | undefined;
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
    const onCursor = (x: number | undefined): void => {
      this.at = x;
    };
    this.plot = new ComparePlot(host, this.view, onCursor, (zoom) => {
      this.zoom(zoom);
    });
    this.resizes = new ResizeObserver(() => this.plot?.resize());
    this.resizes.observe(host);
  }

  protected override render(): TemplateResult {
    const { chart, axis } = this.view;
    const id = `compare-${chart.name}`;
    return html`<section class="card" aria-labelledby=${id}>
      <div class="cardhead">
        <h3 id=${id} title=${chart.name}>${chart.title}</h3>
        <p class=${this.at === undefined ? 'at' : 'at cursor'} aria-hidden="true">
          ${this.at === undefined ? 'last' : placeText(axis, this.at)}
        </p>
        <button type="button" class="toggle" aria-pressed=${this.tableOpen} @click=${this.onTable}>
          <span class="codicon codicon-table" aria-hidden="true"></span>Table
        </button>
        ${saveMenu(this, {
          name: chart.name,
          title: chart.title,
          picture: () => comparePicture(this.view),
        })}
      </div>
      ${this.legend()}
      <div class="plotbox">
        <div
          class="plot"
          tabindex="0"
          role="group"
          aria-roledescription="chart"
          aria-label="${this.summary()}. Arrow keys move the crosshair, Escape resets."
          @keydown=${this.onKey}
          @blur=${() => {
            this.plot?.moveCursor(undefined);
          }}
        ></div>
        ${
          chart.lines.length === 0
            ? html`<p class="nolines">No run that is shown has this over ${axisNames[axis]}.</p>`
            : nothing
        }
        ${this.tableOpen ? this.table() : nothing}
      </div>
    </section>`;
  }

  private legend(): TemplateResult {
    const { chart, palette, emphasized } = this.view;
    const first = chart.lines.filter(({ row }) => row === emphasized);
    const named = [...first, ...chart.lines.filter(({ row }) => row !== emphasized)].slice(0, mostNamed);
    const more = chart.lines.length - named.length;
    return html`<ul class="legend" aria-hidden="true">
      ${named.map((line) => {
        const value = this.at === undefined ? lastValue(line) : valueAt(line, this.at);
        return html`<li>
          ${lineSample(line, palette)}<span class="runname">${line.label}</span>
          <b>${valueText(chart.name, value)}</b>
        </li>`;
      })}
      ${more > 0 ? html`<li>and ${more} more</li>` : nothing}
    </ul>`;
  }

  private summary(): string {
    const { chart } = this.view;
    const values = chart.lines
      .slice(0, mostNamed)
      .map((line) => `${line.label} ${valueText(chart.name, lastValue(line))}`);
    return `${chart.title} of ${plural(chart.lines.length, 'run')}, last values: ${values.join(', ')}`;
  }

  private table(): TemplateResult {
    const { chart, axis } = this.view;
    const all = new Set(chart.lines.flatMap(({ x }) => x)).size;
    const rows = tableOf(chart, axis, this.allRows ? Infinity : firstRows);
    return tableBox(chart.title, rows, all, () => {
      this.allRows = true;
    });
  }

  private readonly onTable = (): void => {
    this.dispatchEvent(new CustomEvent('table-toggle', { bubbles: true, detail: this.view.chart.name }));
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const [low, high] = this.view.range;
    const part = ((high - low) * (event.shiftKey ? 10 : 1)) / 100;
    const move = (by: number): void => {
      const from = this.at ?? (by < 0 ? high : low);
      this.plot?.moveCursor(Math.max(low, Math.min(high, from + by)));
    };
    if (event.key === 'ArrowLeft') move(-part);
    else if (event.key === 'ArrowRight') move(part);
    else if (event.key === 'Escape') {
      this.plot?.moveCursor(undefined);
      this.zoom(undefined);
    } else return;
    event.preventDefault();
  };
}

define('trainyard-compare-card', CompareCard);
