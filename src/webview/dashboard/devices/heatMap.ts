// Memory or utilization of many devices: a row each, time from left to right.
import { html, nothing, type TemplateResult } from 'lit';
import { prepare } from '../elements/canvas.js';
import { bytes, bytesOf, elapsed, percentOf100 } from '../model/format.js';
import {
  heatRows,
  heatValue,
  rowMemory,
  rowName,
  rowsText,
  rowUse,
  sampleColumns,
  type HeatKind,
  type HeatRow,
} from './heatGrid.js';
import type { PageModel } from '../model/model.js';
import { define, Section } from '../elements/section.js';
import type { Palette } from '../elements/colors.js';

/** Finer would not be seen, and costs time. */
const mostColumns = 300;

class HeatMap extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    range: { attribute: false },
    palette: { attribute: false },
    kind: { attribute: false },
    tableOpen: { state: true },
    told: { state: true },
  };
  declare model: PageModel;
  declare revision: number;
  /** Seconds since the epoch, without the pauses of the run. */
  declare range: readonly [number, number];
  declare palette: Palette;
  declare kind: HeatKind;
  declare tableOpen: boolean;
  declare told: string | undefined;
  private readonly small = document.createElement('canvas');
  private rows: HeatRow[] = [];
  private painted: unknown[] = [];
  /** Row and column under the pointer or the arrow keys, 0 to 1. */
  private spot: [number, number] | undefined;

  constructor() {
    super();
    this.tableOpen = false;
  }

  protected override render(): TemplateResult {
    this.rows = heatRows(this.model.hosts);
    const height = Math.max(120, Math.min(Math.max(420, this.rows.length * 2.5), this.rows.length * 8));
    return html`
      <div class="heat">
        <canvas
          style="height: ${height}px"
          tabindex="0"
          role="img"
          aria-label="${this.summary()}. Arrow keys read single cells."
          @mousemove=${this.onMove}
          @mouseleave=${this.onLeave}
          @blur=${this.onLeave}
          @keydown=${this.onKey}
        ></canvas>
        <div class="scale ${this.kind}" aria-hidden="true"><span>0%</span><i></i><span>100%</span></div>
        <p class="told">${this.told ?? this.summary()}</p>
        <button
          type="button"
          class="toggle"
          aria-pressed=${this.tableOpen}
          @click=${() => {
            this.tableOpen = !this.tableOpen;
          }}
        >
          <span class="codicon codicon-table" aria-hidden="true"></span>Table
        </button>
      </div>
      ${this.tableOpen ? this.table() : nothing}
    `;
  }

  protected override updated(): void {
    const canvas = this.querySelector('canvas');
    if (!canvas || !this.near) return;
    const state = [this.model, this.revision, this.range.join(), this.palette, this.kind, canvas.clientWidth];
    if (state.every((value, index) => value === this.painted[index])) return;
    this.painted = state;
    this.paint(canvas);
  }

  private paint(canvas: HTMLCanvasElement): void {
    const context = prepare(canvas);
    if (!context || this.rows.length === 0) return;
    const columns = Math.min(mostColumns, canvas.clientWidth);
    Object.assign(this.small, { width: columns, height: this.rows.length });
    const small = this.small.getContext('2d');
    if (!small) return;
    const colors = this.colors(small);
    const image = small.createImageData(columns, this.rows.length);
    const cells = new Uint32Array(image.data.buffer);
    let host: unknown;
    let samples = new Int32Array();
    for (const [index, row] of this.rows.entries()) {
      if (row.host !== host) {
        host = row.host;
        samples = new Int32Array(
          sampleColumns(this.model.allWithoutPauses(row.host.time), ...this.range, columns),
        );
      }
      for (let column = 0; column < columns; column++) {
        const sample = samples[column] ?? -1;
        const value = sample < 0 ? null : heatValue(row, sample, this.kind);
        if (value !== null) cells[index * columns + column] = colors[Math.round(value * 63)] ?? 0;
      }
    }
    small.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.small, 0, 0, canvas.width, canvas.height);
    this.drawHosts(context, canvas);
  }

  /** 64 shades from the background to the theme's colour, as the canvas itself mixes them. */
  private colors(context: CanvasRenderingContext2D): Uint32Array {
    const { background, charts } = this.palette;
    const gradient = context.createLinearGradient(0, 0, 64, 0);
    const strong = this.kind === 'memory' ? charts.purple : charts.blue;
    gradient.addColorStop(0, `color-mix(in srgb, ${strong} 8%, ${background})`);
    gradient.addColorStop(1, strong);
    const strip = document.createElement('canvas');
    Object.assign(strip, { width: 64, height: 1 });
    const pen = strip.getContext('2d', { willReadFrequently: true });
    if (!pen) return new Uint32Array(64);
    pen.fillStyle = gradient;
    pen.fillRect(0, 0, 64, 1);
    return new Uint32Array(pen.getImageData(0, 0, 64, 1).data.buffer);
  }

  private drawHosts(context: CanvasRenderingContext2D, canvas: HTMLCanvasElement): void {
    context.fillStyle = this.palette.background;
    let row = 0;
    for (const { gpus } of this.model.hosts.slice(0, -1)) {
      row += Math.max(1, gpus.length);
      context.fillRect(
        0,
        Math.round((row / this.rows.length) * canvas.height),
        canvas.width,
        devicePixelRatio,
      );
    }
  }

  private summary(): string {
    const values = this.rows.map((row) => heatValue(row, row.host.time.length - 1, this.kind));
    const known = values.filter((value) => value !== null);
    const what = rowsText(this.rows);
    if (known.length === 0) return `${what}, no figures`;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const least = known.reduce((low, value) => Math.min(low, value), 1);
    const slow = this.rows[values.indexOf(least)];
    const name = slow ? rowName(slow) : '';
    return `${what}, ${this.kind} now ${percentOf100(mean * 100)} on average, least ${percentOf100(least * 100)} (${name})`;
  }

  private tell(): void {
    const { spot } = this;
    const row = spot && this.rows[Math.min(this.rows.length - 1, Math.floor(spot[1] * this.rows.length))];
    if (!row) return;
    const [low, high] = this.range;
    const time = low + spot[0] * (high - low);
    const [sample = -1] = sampleColumns(this.model.allWithoutPauses(row.host.time), time - 1, time, 1);
    const value = sample < 0 ? null : heatValue(row, sample, this.kind);
    const shown =
      this.kind === 'memory' && value !== null
        ? bytesOf(rowMemory(row).used[sample] ?? null, rowMemory(row).total)
        : percentOf100(value === null ? null : value * 100);
    this.told = `${rowName(row)} · ${this.kind} ${shown} · ${elapsed(time - this.model.origin)} of run time`;
  }

  private readonly onMove = (event: MouseEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    this.spot = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    this.tell();
  };

  private readonly onLeave = (): void => {
    this.spot = undefined;
    this.told = undefined;
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-0.02, 0],
      ArrowRight: [0.02, 0],
      ArrowUp: [0, -1 / this.rows.length],
      ArrowDown: [0, 1 / this.rows.length],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const [x, y] = this.spot ?? [1, 0.5 / this.rows.length];
    const keep = (value: number): number => Math.min(1, Math.max(0, value));
    this.spot = [keep(x + move[0]), keep(y + move[1])];
    this.tell();
  };

  private table(): TemplateResult {
    return html`<div class="tablebox" tabindex="0" role="region" aria-label="Devices, table">
      <table>
        <caption>
          ${rowsText(this.rows)}, newest figures
        </caption>
        <thead>
          <tr>
            ${['Host', 'GPU', 'Use', 'Memory', 'Total', '°C'].map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${this.rows.map((row) => {
            const { used, total } = rowMemory(row);
            return html`<tr>
              <td>${row.host.host}</td>
              <td>${row.gpu?.index ?? '–'}</td>
              <td>${percentOf100(rowUse(row).at(-1) ?? null)}</td>
              <td>${bytes(used.at(-1) ?? null)}</td>
              <td>${bytes(total)}</td>
              <td>${percentOf100(row.gpu?.temperature ?? null).replace('%', '')}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }
}

define('trainyard-heat', HeatMap);
