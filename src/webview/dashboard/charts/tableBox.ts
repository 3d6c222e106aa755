// The table over a chart.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { count } from '../model/format.js';

/** Rows that a table shows before all of them are asked for. */
export const firstRows = 100;

/** Cells of a table, newest row first. */
export interface TableRows {
  head: string[];
  rows: string[][];
  /**
   * What is left out where these are not all rows: the oldest ones; else some between all of them.
   */
  spread?: boolean;
}

/** `all` is how many rows there are; `showAll` asks for them. */
export function tableBox(
  title: string,
  { head, rows, spread = false }: TableRows,
  all: number,
  showAll: (() => void) | undefined,
): TemplateResult {
  const some = spread
    ? `${count(rows.length)} of ${count(all)} rows, spread evenly`
    : `the newest ${count(rows.length)} of ${count(all)} rows`;
  const shown = rows.length < all ? some : `${count(all)} rows`;
  return html`<div class="tablebox" tabindex="0" role="region" aria-label="${title}, table">
    <table>
      <caption>
        ${title}, ${shown}, newest first
        ${
          rows.length < all && showAll
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
