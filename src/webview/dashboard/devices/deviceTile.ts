// One device: its figures now, and a small line of each over the time that the charts show.
import { html, nothing, type TemplateResult } from 'lit';
import type { Figure } from '../../protocol.js';
import { drawSparks } from '../elements/canvas.js';
import { duration } from '../model/format.js';
import { define, Section } from '../elements/section.js';
import type { ChartColor, Palette } from '../elements/colors.js';

export interface TileLine {
  label: string;
  /** As it is shown. */
  now: string;
  color: ChartColor;
  /** Empty where only the newest figure is known. */
  values: readonly Figure[];
  /** What fills the height. */
  top: number;
}

export interface Tile {
  id: string;
  title: string;
  subtitle: string;
  lines: TileLine[];
  time: readonly number[];
  /** Short further facts: temperature, power, peak. */
  more: string[];
  /** What deserves attention. */
  warning: string | undefined;
  /** A row of figures rather than a picture. */
  compact: boolean;
  /** Seconds; undefined while the figures are current. */
  age: number | undefined;
}

class DeviceTile extends Section {
  static override properties = {
    tile: { attribute: false },
    range: { attribute: false },
    palette: { attribute: false },
  };
  declare tile: Tile;
  /** Seconds since the epoch. */
  declare range: readonly [number, number];
  declare palette: Palette;

  protected override render(): TemplateResult {
    const { title, subtitle, lines, more, warning, age, compact } = this.tile;
    const words = lines.map(({ label, now }) => `${label} ${now}`).join(', ');
    return html`<div
      class=${compact ? 'tile compact' : 'tile'}
      role="group"
      aria-label="${title}, ${subtitle}"
    >
      <h4>${title} <small>${subtitle}</small></h4>
      ${age === undefined ? nothing : html`<p class="age">${duration(age)} old</p>`}
      <div class=${age === undefined ? 'figures' : 'figures faded'}>
        <dl>
          ${lines.map(
            ({ label, now, color }) =>
              html`<div>
                <dt><i class="swatch ${color}"></i>${label}</dt>
                <dd>${now}</dd>
              </div>`,
          )}
        </dl>
        <canvas role="img" aria-label="${title} over time; now ${words}"></canvas>
        <p class="more">${more.join(' · ')}</p>
      </div>
      ${
        warning === undefined
          ? nothing
          : html`<p class="warn">
              <span class="codicon codicon-warning" aria-hidden="true"></span>${warning}
            </p>`
      }
    </div>`;
  }

  protected override updated(): void {
    const canvas = this.querySelector('canvas');
    if (!canvas || !this.near) return;
    const sparks = this.tile.lines.map(({ values, color, top }) => ({
      values: top === 1 ? values : values.map((value) => (value === null ? null : value / top)),
      color: this.palette.charts[color],
    }));
    drawSparks(canvas, this.tile.time, this.range, 1, sparks);
  }
}

define('trainyard-device', DeviceTile);
