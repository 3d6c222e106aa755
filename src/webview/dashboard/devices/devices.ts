// Hosts, GPUs and ranks. Of one host its tiles; of several a group each, with the host's sums,
// which opens and closes; and above them one heat map where there are too many for tiles.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { HostColumns, RankColumns } from '../../protocol.js';
import type { Tile } from './deviceTile.js';
import './deviceTile.js';
import { deviceCount, deviceTiles, heatFrom, rankTiles, slowRankTiles } from './deviceTiles.js';
import { hostSums, hostTrouble } from './hostSums.js';
import { bytes, bytesOf, duration, percentOf100 } from '../model/format.js';
import './heatMap.js';
import type { PageModel } from '../model/model.js';
import { staleness, yet } from '../model/phase.js';
import { define, Section } from '../elements/section.js';
import type { Palette } from '../elements/colors.js';
import type { ViewState } from '../model/viewState.js';

class Devices extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    now: { attribute: false },
    range: { attribute: false },
    palette: { attribute: false },
    heat: { attribute: false },
    turned: { attribute: false },
    change: { attribute: false },
  };
  declare model: PageModel;
  declare revision: number;
  /** Whole seconds while figures are stale, otherwise 0: their age alone makes it draw again. */
  declare now: number;
  /** `low,high` as the charts have it, seconds of run time. */
  declare range: string;
  declare palette: Palette;
  declare heat: ViewState['heat'];
  declare turned: ViewState['turnedHosts'];
  declare change: (change: Partial<ViewState>) => void;

  protected override render(): TemplateResult {
    const { model } = this;
    const { hosts, ranks } = model;
    const range = this.timeRange();
    if (hosts.length === 0 && ranks.length === 0) {
      return html`<h2>Devices</h2>
        <p class="quiet">No figures from the hosts${yet(model)}.</p>`;
    }
    const many = deviceCount(model) >= heatFrom;
    return html`
      <div class="sectionhead">
        <h2>Devices</h2>
        ${many ? this.heatChoice() : nothing}
      </div>
      ${
        many
          ? html`<trainyard-heat
                .model=${model}
                .revision=${this.revision}
                .range=${range}
                .palette=${this.palette}
                .kind=${this.heat}
              ></trainyard-heat>
              ${this.tiles(slowRankTiles(model, this.clock), range)}`
          : nothing
      }
      ${hosts.length > 1 ? this.groups(range, !many) : hosts.map((host) => this.alone(host, range))}
      ${this.tiles(rankTiles(model, this.strayRanks(), this.clock), range)}
    `;
  }

  private get clock(): number {
    return this.now || this.model.now;
  }

  /** The only host. */
  private alone(host: HostColumns, range: readonly [number, number]): TemplateResult {
    return html`${host.gpus.length > 0 ? this.hostLine(host) : nothing} ${this.inside(host, range)}`;
  }

  private groups(range: readonly [number, number], open: boolean): TemplateResult {
    return html`<div class="hostgroups">
      ${repeat(
        this.model.hosts,
        ({ host }) => host,
        (host) => this.group(host, range, open !== this.turned.includes(host.host)),
      )}
    </div>`;
  }

  private group(host: HostColumns, range: readonly [number, number], open: boolean): TemplateResult {
    const { host: name } = host;
    const age = this.ageOf(host);
    const trouble = hostTrouble(host);
    return html`<section class=${open ? 'hostgroup open' : 'hostgroup'} aria-label=${name}>
      <h3>
        <button
          type="button"
          aria-expanded=${open ? 'true' : 'false'}
          @click=${() => {
            this.turn(name);
          }}
        >
          <span class="codicon codicon-chevron-${open ? 'down' : 'right'}" aria-hidden="true"></span>${name}
        </button>
        ${age === undefined ? nothing : html`<span class="age">${duration(age)} old</span>`}
      </h3>
      ${open && host.gpus.length === 0 ? nothing : sumsLine(host, age !== undefined)}
      ${
        trouble === ''
          ? nothing
          : html`<p class="warn">
              <span class="codicon codicon-warning" aria-hidden="true"></span>${trouble}
            </p>`
      }
      ${open ? this.inside(host, range) : nothing}
    </section>`;
  }

  /** Its devices, and those of its ranks that have figures. */
  private inside(host: HostColumns, range: readonly [number, number]): TemplateResult {
    const { model, clock } = this;
    const ranks = model.ranks.filter((rank) => rank.host === host.host || model.hosts.length === 1);
    return html`${this.tiles(deviceTiles(model, host, clock), range)}
    ${this.tiles(rankTiles(model, ranks, clock), range)}`;
  }

  /** Of hosts that sent no figures yet. */
  private strayRanks(): RankColumns[] {
    const { hosts, ranks } = this.model;
    if (hosts.length === 1) return [];
    return ranks.filter((rank) => !hosts.some(({ host }) => host === rank.host));
  }

  private turn(name: string): void {
    const { turned } = this;
    this.change({
      turnedHosts: turned.includes(name) ? turned.filter((each) => each !== name) : [...turned, name],
    });
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

  /** Seconds since the epoch, without the pauses of the run. */
  private timeRange(): readonly [number, number] {
    const [low = 0, high = 1] = this.range.split(',').map(Number);
    const { origin } = this.model;
    if (this.model.steps.step.length > 0) return [origin + low, origin + high];
    // Without charts the devices' own samples are the axis.
    const times = [...this.model.hosts, ...this.model.ranks].flatMap(({ time }) => [
      this.model.withoutPauses(time[0] ?? Infinity),
      this.model.withoutPauses(time.at(-1) ?? -Infinity),
    ]);
    const first = Math.min(...times);
    return [first, Math.max(first + 1, ...times.filter(Number.isFinite))];
  }

  private ageOf({ time }: HostColumns): number | undefined {
    return staleness(time.at(-1), this.clock, this.model.head?.over ?? false);
  }

  private hostLine(host: HostColumns): TemplateResult {
    const age = this.ageOf(host);
    return html`<ul class="hosts">
      <li class=${age === undefined ? '' : 'faded'}>
        <b>${host.host}</b>
        <span>CPU <b>${percentOf100(host.cpuPercent.at(-1) ?? null)}</b></span>
        <span>memory <b>${bytesOf(host.memoryUsed.at(-1) ?? null, host.memoryTotal)}</b></span>
        <span>disk <b>${bytes(host.diskFree)}</b> free</span>
        ${host.missing === '' ? nothing : html`<span class="warn">${host.missing}</span>`}
        ${age === undefined ? nothing : html`<span class="age">${duration(age)} old</span>`}
      </li>
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

/** Sums over the host's devices; an open host without GPUs has a tile that says the same. */
const sumsLine = (host: HostColumns, faded: boolean): TemplateResult =>
  html`<dl class=${faded ? 'sums faded' : 'sums'}>
    ${hostSums(host).map(
      ({ label, text }) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${text}</dd>
        </div>`,
    )}
  </dl>`;

define('trainyard-devices', Devices);
