// Hosts, GPUs and ranks: a tile each, or one heat map where there are too many for tiles.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import './deviceTile.js';
import { gpuCount, heatFrom, tilesOf } from './deviceTiles.js';
import { bytes, bytesOf, duration, percentOf100 } from './format.js';
import './heatMap.js';
import type { PageModel } from './model.js';
import { staleness } from './phase.js';
import { define, Section } from './section.js';
import type { Palette } from './theme.js';
import type { ViewState } from './viewState.js';

export class Devices extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    now: { attribute: false },
    range: { attribute: false },
    palette: { attribute: false },
    heat: { attribute: false },
    change: { attribute: false },
  };
  declare model: PageModel;
  declare revision: number;
  /** Whole seconds while figures are stale, otherwise 0: their age alone makes it draw again. */
  declare now: number;
  /** `low,high` as the charts have it. */
  declare range: string;
  declare palette: Palette;
  declare heat: ViewState['heat'];
  declare change: (change: Partial<ViewState>) => void;

  protected override render(): TemplateResult {
    const { model } = this;
    const range = this.timeRange();
    if (model.hosts.length === 0 && model.ranks.length === 0) {
      return html`<h2>Devices</h2>
        <p class="quiet">No figures from the hosts yet.</p>`;
    }
    const many = gpuCount(model) >= heatFrom;
    return html`
      <div class="sectionhead">
        <h2>Devices</h2>
        ${many ? this.heatChoice() : nothing}
      </div>
      ${model.hosts.some(({ gpus }) => gpus.length > 0) ? this.hosts() : nothing}
      ${
        many
          ? html`<trainyard-heat
              .model=${model}
              .revision=${this.revision}
              .range=${range}
              .palette=${this.palette}
              .kind=${this.heat}
            ></trainyard-heat>`
          : html`<div class="tiles">
              ${repeat(
                tilesOf(model, this.now || model.now),
                ({ id }) => id,
                (tile) =>
                  html`<trainyard-device
                    .tile=${tile}
                    .range=${range}
                    .palette=${this.palette}
                  ></trainyard-device>`,
              )}
            </div>`
      }
    `;
  }

  private timeRange(): readonly [number, number] {
    const [low = 0, high = 1] = this.range.split(',').map(Number);
    const { origin } = this.model;
    if (this.model.steps.step.length > 0) return [origin + low, origin + high];
    // Without charts the devices' own samples are the axis.
    const times = [...this.model.hosts, ...this.model.ranks].flatMap(({ time }) => [
      time[0] ?? Infinity,
      time.at(-1) ?? -Infinity,
    ]);
    const first = Math.min(...times);
    return [first, Math.max(first + 1, ...times.filter(Number.isFinite))];
  }

  private hosts(): TemplateResult {
    const over = this.model.head?.over ?? false;
    return html`<ul class="hosts">
      ${this.model.hosts.map((host) => {
        const age = staleness(host.time.at(-1), this.now || this.model.now, over);
        return html`<li class=${age === undefined ? '' : 'faded'}>
          <b>${host.host}</b>
          <span>CPU <b>${percentOf100(host.cpuPercent.at(-1) ?? null)}</b></span>
          <span>memory <b>${bytesOf(host.memoryUsed.at(-1) ?? null, host.memoryTotal)}</b></span>
          <span>disk <b>${bytes(host.diskFree)}</b> free</span>
          ${age === undefined ? nothing : html`<span class="age">${duration(age)} old</span>`}
        </li>`;
      })}
    </ul>`;
  }

  private heatChoice(): TemplateResult {
    return html`<div class="controls" role="group" aria-label="What the heat map shows">
      ${(['utilization', 'memory'] as const).map(
        (kind) =>
          html`<button
            type="button"
            class="toggle"
            aria-pressed=${this.heat === kind}
            @click=${() => {
              this.change({ heat: kind });
            }}
          >
            ${kind}
          </button>`,
      )}
    </div>`;
  }
}

define('trainyard-devices', Devices);
