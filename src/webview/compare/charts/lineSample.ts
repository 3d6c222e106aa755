// A piece of a run's line, as it is in the charts.
import { svg, html, type TemplateResult } from 'lit';
import type { Palette } from '../../dashboard/elements/colors.js';
import type { LineStyle } from '../model/curves.js';

export const lineSample = ({ color, dash }: LineStyle, palette: Palette): TemplateResult =>
  html`<svg class="linesample" width="24" height="8" aria-hidden="true">
    ${svg`<line x1="0" y1="4" x2="24" y2="4" stroke=${palette.charts[color]} stroke-width="2.5"
      stroke-dasharray=${dash.join(' ')}></line>`}
  </svg>`;
