// The settings in which the runs differ: a setting a row, a run a column.
import { html, type TemplateResult } from 'lit';
import type { Palette } from '../../dashboard/elements/colors.js';
import type { ComparisonUpdate } from '../../protocol.js';
import { lineSample } from '../charts/lineSample.js';
import { styleOf } from '../model/curves.js';

export function differencesTable(
  { differences, runs }: ComparisonUpdate,
  rows: readonly number[],
  palette: Palette,
): TemplateResult {
  const told = differences.filter(({ values }) => new Set(rows.map((row) => values[row] ?? null)).size > 1);
  if (told.length === 0) {
    const words =
      rows.length < 2 ? 'Settings are compared from two runs on.' : 'Their settings do not differ.';
    return html`<p class="quiet">${words}</p>`;
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Settings that differ">
    <table class="settings">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          ${rows.map(
            (row) =>
              html`<th scope="col">
                <span class="namecell">${lineSample(styleOf(row), palette)}${runs[row]?.label}</span>
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${told.map(
          ({ name, values }) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${rows.map((row) => html`<td title=${values[row] ?? ''}>${values[row] ?? ''}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
