// The table below a chart.
import { html, type TemplateResult } from 'lit';
import { count } from '../model/format.js';

/** `rows` newest first; `all` is how many there are, of which the table shows some. */
export function tableBox(
  title: string,
  { head, rows }: { head: string[]; rows: string[][] },
  all: number,
): TemplateResult {
  return html`<div class="tablebox" tabindex="0" role="region" aria-label="${title}, table">
    <table>
      <caption>
        ${title}, ${rows.length} of ${count(all)} rows, newest first
      </caption>
      <thead>
        <tr>
          ${head.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
