// The table over a chart.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { count } from '../model/format.js';

/** Rows that a table shows before all of them are asked for. */
export const firstRows = 100;

/** `rows` newest first, without gaps; `all` is how many there are; `showAll` asks for them. */
export function tableBox(
  title: string,
  { head, rows }: { head: string[]; rows: string[][] },
  all: number,
  showAll: () => void,
): TemplateResult {
  const shown =
    rows.length < all ? `the newest ${count(rows.length)} of ${count(all)} rows` : `${count(all)} rows`;
  return html`<div class="tablebox" tabindex="0" role="region" aria-label="${title}, table">
    <table>
      <caption>
        ${title}, ${shown}, newest first
        ${
          rows.length < all
            ? html`<button type="button" class="toggle" @click=${showAll}>Show all</button>`
            : nothing
        }
      </caption>
      <thead>
        <tr>
          ${head.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${repeat(
          rows,
          (_, index) => all - index,
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
