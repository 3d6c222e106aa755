// The charts' grid with what governs all of them: pause, smoothing, zoom.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import './chartCard.js';
import type { ChartGroup } from './chartGroup.js';
import { chartSpecs, hasData } from './chartSpecs.js';
import { pauseButton } from './pauseButton.js';
import { axisNames, cutsNote, runTimeTitle } from './timeAxis.js';
import { define, Section } from '../elements/section.js';
import { yet } from '../model/phase.js';
import { xAxes, type ViewState } from '../model/viewState.js';

class Charts extends Section {
  static override properties = {
    group: { attribute: false },
    revision: { attribute: false },
    view: { attribute: false },
    faded: { attribute: false },
    empty: { attribute: false },
    pausedAt: { attribute: false },
    change: { attribute: false },
  };
  declare group: ChartGroup;
  /** Of the model's steps and evaluations: which charts have data may be another. */
  declare revision: string;
  declare view: ViewState;
  declare faded: boolean;
  /** Why there are no charts. */
  declare empty: string | undefined;
  /** What stands beside the button while the charts are paused. */
  declare pausedAt: string | undefined;
  declare change: (change: Partial<ViewState>) => void;

  protected override render(): TemplateResult {
    if (this.empty !== undefined) {
      return html`<h2 class="hidden">Charts</h2>
        <p class="quiet">${this.empty}</p>`;
    }
    const { group, view } = this;
    const drawn = chartSpecs.filter((spec) => hasData(spec, group.data, group.model));
    const absent = chartSpecs.filter((spec) => !drawn.includes(spec)).map(({ title }) => title.toLowerCase());
    return html`
      <div class="sectionhead">
        <h2>Training</h2>
        ${this.controls()}
      </div>
      <div
        class=${this.faded ? 'grid faded' : 'grid'}
        @log-toggle=${() => {
          this.change({ logLoss: !view.logLoss });
        }}
        @outliers-toggle=${() => {
          this.change({ allValues: !view.allValues });
        }}
        @table-toggle=${this.onTable}
      >
        ${repeat(
          drawn,
          ({ id }) => id,
          (spec) =>
            html`<trainyard-chart
              .spec=${spec}
              .group=${group}
              .tableOpen=${view.tables.includes(spec.id)}
              .smoothing=${view.smoothing}
              .logLoss=${view.logLoss}
              .allValues=${view.allValues}
              .axis=${view.axis}
            ></trainyard-chart>`,
        )}
      </div>
      ${absent.length === 0 ? nothing : html`<p class="quiet">No figures${yet(group.model)}: ${absent.join(', ')}.</p>`}
    `;
  }

  private controls(): TemplateResult {
    const { view } = this;
    return html`<div class="controls">
      ${
        view.zoom
          ? html`<button
              type="button"
              class="toggle"
              @click=${() => {
                this.group.setZoom(undefined);
              }}
            >
              <span class="codicon codicon-zoom-out" aria-hidden="true"></span>Reset zoom
            </button>`
          : nothing
      }
      ${cutsNote(view.axis, this.group.model.cuts)}
      <label class="slider" title=${runTimeTitle}
        >X axis
        <select @change=${this.onAxis}>
          ${xAxes.map(
            (axis) => html`<option value=${axis} ?selected=${axis === view.axis}>${axisNames[axis]}</option>`,
          )}
        </select></label
      >
      <label class="slider"
        >Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          .value=${String(view.smoothing)}
          @input=${this.onSmoothing}
        /><output>${view.smoothing.toFixed(2)}</output></label
      >
      ${pauseButton(view.paused, this.pausedAt, this.change)}
    </div>`;
  }

  private readonly onAxis = (event: Event): void => {
    const value = (event.target as HTMLSelectElement).value;
    const axis = xAxes.find((one) => one === value);
    // A zoom is in the unit of its axis.
    if (axis) this.change({ axis, zoom: undefined });
  };

  private readonly onSmoothing = (event: Event): void => {
    this.change({ smoothing: Number((event.target as HTMLInputElement).value) });
  };

  private readonly onTable = ({ detail }: CustomEvent<string>): void => {
    const { tables } = this.view;
    const open = tables.includes(detail);
    this.change({ tables: open ? tables.filter((name) => name !== detail) : [...tables, detail] });
  };
}

define('trainyard-charts', Charts);
