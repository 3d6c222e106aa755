// What an own program reported, as charts in groups.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import './figureCard.js';
import { countsSteps, figureAxis, wholeRange, type FigureAxis } from './figureAxis.js';
import { figureGroups, type FigureChart, type FigureGroup } from './figureGroups.js';
import { plural } from '../model/format.js';
import type { PageModel } from '../model/model.js';
import { pauseButton } from './pauseButton.js';
import { axisNames, cutsNote, runTimeTitle } from './timeAxis.js';
import { define, Section } from '../elements/section.js';
import type { Palette } from '../elements/colors.js';
import type { ViewState } from '../model/viewState.js';

/** With more charts than this only the first group is open, and there is a filter. */
const manyCharts = 12;

class Figures extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    view: { attribute: false },
    palette: { attribute: false },
    faded: { attribute: false },
    pausedAt: { attribute: false },
    change: { attribute: false },
    filter: { state: true },
  };
  declare model: PageModel;
  /** Of the model's figures and marks. */
  declare revision: string;
  declare view: ViewState;
  declare palette: Palette;
  declare faded: boolean;
  /** What stands beside the button while the charts are paused. */
  declare pausedAt: string | undefined;
  declare change: (change: Partial<ViewState>) => void;
  declare filter: string;

  constructor() {
    super();
    this.filter = '';
  }

  protected override render(): TemplateResult {
    const { model } = this;
    const all = new Set(model.figures.map(({ tag }) => tag)).size;
    const axis = figureAxis(this.view.axis, model.figures, (time) => model.runTime(time));
    const groups = figureGroups(model.figures, this.filter);
    const isMany = all > manyCharts;
    return html`
      <div class="sectionhead">
        <h2>Figures</h2>
        <div class="controls">
          ${
            this.view.zoom
              ? html`<button
                  type="button"
                  class="toggle"
                  @click=${() => {
                    this.zoom(undefined);
                  }}
                >
                  <span class="codicon codicon-zoom-out" aria-hidden="true"></span>Reset zoom
                </button>`
              : nothing
          }
          ${cutsNote(axis.kind, model.cuts)}
          ${
            countsSteps(model.figures)
              ? html`<label class="slider" title=${runTimeTitle}
                  >X axis
                  <select @change=${this.onAxis}>
                    ${(['time', 'step'] as const).map(
                      (kind) =>
                        html`<option value=${kind} ?selected=${kind === axis.kind}>
                          ${axisNames[kind]}
                        </option>`,
                    )}
                  </select></label
                >`
              : nothing
          }
          ${this.view.paused ? pauseButton(true, this.pausedAt, this.change) : nothing}
          ${
            isMany
              ? html`<input
                  type="search"
                  placeholder="Filter…"
                  aria-label="Filter figures by name"
                  .value=${this.filter}
                  @input=${(event: Event) => {
                    this.filter = (event.target as HTMLInputElement).value;
                  }}
                />`
              : nothing
          }
        </div>
      </div>
      <div class=${this.faded ? 'faded' : ''} @table-toggle=${this.onTable}>
        ${repeat(
          groups,
          ({ name }) => name,
          (group, index) => this.group(group, axis, !isMany || index === 0 || this.filter !== ''),
        )}
        ${groups.length === 0 ? html`<p class="quiet">No figure has “${this.filter}” in its name.</p>` : nothing}
      </div>
    `;
  }

  private group({ name, charts }: FigureGroup, axis: FigureAxis, open: boolean): TemplateResult {
    const range = this.range(axis);
    const grid = html`<div class="grid">
      ${repeat(
        charts,
        ({ tag }) => tag,
        (chart) => this.chart(chart, axis, range),
      )}
    </div>`;
    if (name === '') return grid;
    return html`<details class="figuregroup" ?open=${open}>
      <summary>
        <h3>${name}</h3>
        <span class="quiet">${plural(charts.length, 'chart')}</span>
      </summary>
      ${grid}
    </details>`;
  }

  private chart(chart: FigureChart, axis: FigureAxis, range: [number, number]): TemplateResult {
    const { model, palette, view } = this;
    return html`<trainyard-figure
      .view=${{ chart, axis, range, marks: model.marks, cuts: model.cuts, palette }}
      .tableOpen=${view.tables.includes(chart.tag)}
      .zoom=${this.zoom}
    ></trainyard-figure>`;
  }

  /** All x axes show the same. */
  private range(axis: FigureAxis): [number, number] {
    // A zoom of a training's charts may be in epochs.
    if (this.view.zoom && this.view.axis === axis.kind) return this.view.zoom;
    return wholeRange(this.model.figures, axis);
  }

  private readonly zoom = (zoom: [number, number] | undefined): void => {
    const { model } = this;
    const { kind } = figureAxis(this.view.axis, model.figures, (time) => model.runTime(time));
    this.change({ zoom, axis: kind });
  };

  private readonly onAxis = (event: Event): void => {
    const axis = (event.target as HTMLSelectElement).value === 'step' ? 'step' : 'time';
    this.change({ axis, zoom: undefined }); // a zoom is in the unit of its axis
  };

  private readonly onTable = ({ detail }: CustomEvent<string>): void => {
    const { tables } = this.view;
    const open = tables.includes(detail);
    this.change({ tables: open ? tables.filter((name) => name !== detail) : [...tables, detail] });
  };
}

define('trainyard-figures', Figures);
