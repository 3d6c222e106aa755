// Hosts, GPUs and ranks: a tile each, or one heat map where there are too many for tiles.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Tile } from './deviceTile.js';
import './deviceTile.js';
import { deviceTiles, gpuCount, heatFrom, rankTiles, slowRankTiles } from './deviceTiles.js';
import { bytes, bytesOf, duration, percentOf100, plural } from '../model/format.js';
import './heatMap.js';
import type { PageModel } from '../model/model.js';
import { staleness } from '../model/phase.js';
import { define, Section } from '../elements/section.js';
import type { Palette } from '../elements/theme.js';
import type { ViewState } from '../model/viewState.js';

/** With more, a line for each would fill the page; the heat map's table names them. */
const mostHosts = 8;

class Devices extends Section {
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
              ></trainyard-heat>
              ${this.tiles(slowRankTiles(model, this.now || model.now), range)}`
          : html`${this.tiles(deviceTiles(model, this.now || model.now), range)}
            ${this.tiles(rankTiles(model, this.now || model.now), range)}`
      }
    `;
  }

  private tiles(tiles: Tile[], range: readonly [number, number]): TemplateResult | typeof nothing {
    if (tiles.length === 0) return nothing;
    return html`<div class=${tiles[0]?.compact ? 'tiles compact' : 'tiles'}>
      ${repeat(
        tiles,
        ({ id }) => id,
        (tile) =>
          html`<trainyard-device .tile=${tile} .range=${range} .palette=${this.palette}></trainyard-device>`,
      )}
    </div>`;
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
    if (this.model.hosts.length > mostHosts) return this.hostsTogether();
    return html`<ul class="hosts">
      ${this.model.hosts.map((host) => {
        const age = staleness(host.time.at(-1), this.now || this.model.now, over);
        return html`<li class=${age === undefined ? '' : 'faded'}>
          <b>${host.host}</b>
          <span>CPU <b>${percentOf100(host.cpuPercent.at(-1) ?? null)}</b></span>
          <span>memory <b>${bytesOf(host.memoryUsed.at(-1) ?? null, host.memoryTotal)}</b></span>
          <span>disk <b>${bytes(host.diskFree)}</b> free</span>
          ${host.missing === '' ? nothing : html`<span class="warn">${host.missing}</span>`}
          ${age === undefined ? nothing : html`<span class="age">${duration(age)} old</span>`}
        </li>`;
      })}
    </ul>`;
  }

  private hostsTogether(): TemplateResult {
    const { hosts } = this.model;
    const cpu = hosts.map(({ cpuPercent }) => cpuPercent.at(-1) ?? 0);
    const mean = cpu.reduce((sum, value) => sum + value, 0) / hosts.length;
    const memory = Math.max(...hosts.map(({ memoryUsed }) => memoryUsed.at(-1) ?? 0));
    const disk = Math.min(...hosts.map(({ diskFree }) => diskFree ?? Infinity));
    const over = this.model.head?.over ?? false;
    const now = this.now || this.model.now;
    const ages = hosts
      .map(({ time }) => staleness(time.at(-1), now, over))
      .filter((age) => age !== undefined);
    const missing = hosts
      .filter((host) => host.missing !== '')
      .map((host) => `${host.host}: ${host.missing}`);
    return html`<p class="told">
      <b>${hosts.length} hosts</b> · CPU <b>${percentOf100(mean)}</b> on average · memory
      <b>${bytes(memory)}</b> at most · disk <b>${bytes(disk)}</b> free at least
      ${missing.length === 0 ? nothing : html`<span class="warn">· ${missing.join(', ')}</span>`}
      ${
        ages.length === 0
          ? nothing
          : html`<span class="age"
              >· ${plural(ages.length, 'host')} up to ${duration(Math.max(...ages))} old</span
            >`
      }
    </p>`;
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
