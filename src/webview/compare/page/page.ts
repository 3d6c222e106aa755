// The page of a comparison: what is shown of the runs, and what is asked of the extension.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { define } from '../../dashboard/elements/section.js';
import { runTimeTitle } from '../../dashboard/charts/timeAxis.js';
import type { Palette } from '../../dashboard/elements/colors.js';
import { onThemeChange, readPalette } from '../../dashboard/elements/theme.js';
import { clock, plural } from '../../dashboard/model/format.js';
import type { ComparisonUpdate, SavedChart, TableForm } from '../../protocol.js';
import '../charts/compareCard.js';
import type { PlotView } from '../charts/comparePlot.js';
import { axisNames, wholeRange, type CompareChart } from '../model/curves.js';
import { DrawnCharts } from '../model/drawnCharts.js';
import { shownRows } from '../model/rows.js';
import type { CompareAxis, CompareView } from '../model/view.js';
import { differencesTable } from './differences.js';
import type { Host } from './host.js';
import { runTable } from './runTable.js';

const axes: readonly CompareAxis[] = ['step', 'epoch', 'hours'];
const forms: Record<TableForm, string> = { csv: 'CSV', json: 'JSON', markdown: 'Markdown' };

export class ComparePage extends LitElement {
  static override properties = {
    shown: { attribute: false },
    view: { state: true },
    zoomed: { state: true },
    pointed: { state: true },
    palette: { state: true },
    failure: { state: true },
  };
  declare shown: ComparisonUpdate | undefined;
  declare view: CompareView;
  declare zoomed: [number, number] | undefined;
  /** The run under the pointer. */
  declare pointed: number | undefined;
  declare palette: Palette;
  declare failure: string | undefined;
  private stopTheme: (() => void) | undefined;
  private readonly drawnCharts = new DrawnCharts();

  constructor(private readonly host: Host) {
    super();
    this.view = host.readView();
    this.palette = readPalette();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopTheme = onThemeChange(() => {
      this.palette = readPalette();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopTheme?.();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { shown: update, view, palette } = this;
    if (!update) return html`<p class="quiet" role="status">Reading the runs…</p>`;
    const rows = shownRows(update, view);
    return html`
      <header class="comparehead">
        <h1>${plural(update.runs.length + update.pending, 'run')} compared</h1>
        <p class="quiet" role="status">${this.statusText(update, rows)}</p>
        <div class="controls">
          <button
            type="button"
            class="secondary"
            @click=${() => {
              this.host.post({ type: 'refresh' });
            }}
          >
            <span class="codicon codicon-refresh" aria-hidden="true"></span>Read Again
          </button>
          <trainyard-menu
            .label=${'Export Table'}
            .icon=${'export'}
            .iconOnly=${false}
            .items=${this.exports(rows)}
          ></trainyard-menu>
        </div>
      </header>
      ${update.problems.map((text) => html`<p class="problem">${text}</p>`)}
      ${this.failure === undefined ? nothing : html`<p class="problem" role="alert">${this.failure}</p>`}
      <main>
        <section aria-labelledby="figures">
          <div class="sectionhead">
            <h2 id="figures">Figures</h2>
            <div class="controls">${this.accuracyBox(update)}${this.filterBox()}</div>
          </div>
          ${
            rows.length === 0
              ? html`<p class="quiet">No run matches the filter.</p>`
              : runTable({
                  ...{ update, rows, view, palette },
                  onSort: (key) => {
                    this.sort(key);
                  },
                  onShow: (dir) => {
                    this.toggle('hidden', dir);
                  },
                  onOpen: (row) => {
                    this.host.post({ type: 'open', row });
                  },
                  onPoint: (row) => {
                    this.pointed = row;
                  },
                })
          }
        </section>
        ${this.charts(update, rows)}
        <section aria-labelledby="differences">
          <div class="sectionhead"><h2 id="differences">Settings that differ</h2></div>
          ${guard([update, String(rows), palette], () => differencesTable(update, rows, palette))}
        </section>
      </main>
    `;
  }

  private statusText({ pending, runs, time }: ComparisonUpdate, rows: readonly number[]): string {
    const filtered = rows.length < runs.length ? `${rows.length} of ${runs.length} shown, ` : '';
    if (pending > 0) return `${filtered}${plural(pending, 'run')} still to be read…`;
    return `${filtered}as they were at ${clock(time)}`;
  }

  private exports(rows: number[]): object[] {
    return (Object.keys(forms) as TableForm[]).map((form) => ({
      label: `As ${forms[form]}…`,
      icon: 'file',
      run: () => {
        this.host.post({ type: 'export', form, rows });
      },
    }));
  }

  private filterBox(): TemplateResult {
    return html`<input
      type="text"
      aria-label="Filter runs"
      placeholder="Filter runs"
      title="Parts of a name, #tag, profile, status, or setting=value; all of them must match"
      .value=${this.view.filter}
      @input=${(event: InputEvent) => {
        this.change({ filter: (event.target as HTMLInputElement).value });
      }}
    />`;
  }

  private accuracyBox({ accuracy, columns }: ComparisonUpdate): TemplateResult | typeof nothing {
    if (accuracy === null) return nothing;
    const hasPrice = columns.some(({ key }) => key === 'cost');
    return html`<label class="accuracy"
      >${hasPrice ? 'Price' : 'Time'} to top-1 of
      <input
        type="number"
        min="0.1"
        max="100"
        step="any"
        .value=${String(+(accuracy * 100).toFixed(2))}
        @change=${(event: Event) => {
          const percent = (event.target as HTMLInputElement).valueAsNumber;
          if (percent > 0 && percent <= 100) this.host.post({ type: 'accuracy', fraction: percent / 100 });
        }}
      />
      %</label
    >`;
  }

  private charts(update: ComparisonUpdate, rows: readonly number[]): TemplateResult {
    const drawn = rows.filter((row) => !this.view.hidden.includes(update.runs[row]?.dir ?? ''));
    const on = (each: CompareAxis): CompareChart[] => this.drawnCharts.of(update, drawn, each);
    const has = (each: CompareAxis): boolean => on(each).some(isDrawn);
    const axis = has(this.view.axis) ? this.view.axis : has('step') ? 'step' : this.view.axis;
    const charts = on(axis);
    const range = this.zoomed ?? wholeRange(charts);
    const ours = charts.filter(({ own }) => !own);
    const own = charts.filter((chart) => chart.own);
    return html`<section aria-labelledby="curves">
      <div class="sectionhead">
        <h2 id="curves">Curves</h2>
        <div class="controls" role="group" aria-label="The x axis counts">
          ${axes.map(
            (each) =>
              html`<button
                type="button"
                class="toggle"
                title=${each === 'hours' ? runTimeTitle : nothing}
                aria-pressed=${each === axis}
                ?disabled=${!has(each)}
                @click=${() => {
                  this.zoomed = undefined;
                  this.change({ axis: each });
                }}
              >
                ${axisNames[each]}
              </button>`,
          )}
        </div>
      </div>
      ${charts.length === 0 ? html`<p class="quiet">No run that is drawn has curves.</p>` : nothing}
      ${this.grid(ours, axis, range)}
      ${own.length === 0 ? nothing : html`<h3 class="ownhead">Reported by the programs</h3>`}
      ${this.grid(own, axis, range)}
    </section>`;
  }

  private grid(charts: readonly CompareChart[], axis: CompareAxis, range: [number, number]): TemplateResult {
    const { palette, pointed } = this;
    return html`<div
      class="grid"
      @table-toggle=${this.onTable}
      @chart-save=${this.onSave}
      @chart-save-failed=${this.onSaveFailed}
    >
      ${charts.map((chart) => {
        const emphasized = chart.lines.some(({ row }) => row === pointed) ? pointed : undefined;
        const view: PlotView = { chart, axis, range, palette, emphasized };
        return html`<trainyard-compare-card
          .view=${view}
          .tableOpen=${this.view.tables.includes(chart.name)}
          .zoom=${this.onZoom}
        ></trainyard-compare-card>`;
      })}
    </div>`;
  }

  private readonly onTable = (event: CustomEvent<string>): void => {
    this.toggle('tables', event.detail);
  };

  private readonly onZoom = (zoom: [number, number] | undefined): void => {
    this.zoomed = zoom;
  };

  private readonly onSave = ({ detail }: CustomEvent<SavedChart>): void => {
    this.failure = undefined;
    this.host.post({ type: 'save', ...detail });
  };

  private readonly onSaveFailed = ({ detail }: CustomEvent<string>): void => {
    this.failure = detail;
  };

  private sort(key: string): void {
    const { sort } = this.view;
    const better = this.shown?.columns.find((column) => column.key === key)?.better;
    const down = better === 'high';
    if (sort?.key !== key) this.change({ sort: { key, down } });
    else this.change({ sort: sort.down === down ? { key, down: !down } : null });
  }

  private toggle(what: 'hidden' | 'tables', name: string): void {
    const names = this.view[what];
    this.change({ [what]: names.includes(name) ? names.filter((each) => each !== name) : [...names, name] });
  }

  private change(part: Partial<CompareView>): void {
    this.view = { ...this.view, ...part };
    this.host.keepView(this.view);
  }
}

const isDrawn = ({ lines }: CompareChart): boolean => lines.length > 0;

define('trainyard-compare', ComparePage);
