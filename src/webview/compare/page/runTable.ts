// The figures of all runs: a run a row, sorted by the column that is asked for.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Palette } from '../../dashboard/elements/colors.js';
import type { ComparisonUpdate } from '../../protocol.js';
import { lineSample } from '../charts/lineSample.js';
import { styleOf } from '../model/curves.js';
import { bestRows } from '../model/rows.js';
import type { CompareView } from '../model/view.js';

export interface RunTableView {
  update: ComparisonUpdate;
  rows: readonly number[];
  view: CompareView;
  palette: Palette;
  onSort: (key: string) => void;
  onShow: (dir: string) => void;
  onOpen: (row: number) => void;
  /** The run under the pointer, or with the focus. */
  onPoint: (row: number | undefined) => void;
}

/** What a title cannot say. */
const columnTitles: Readonly<Record<string, string>> = {
  images_per_sec:
    'All images over the time of their steps, checkpoints left out. The dashboard has the median, and its charts the last value',
};

export function runTable(table: RunTableView): TemplateResult {
  const { update, rows } = table;
  const columns = update.columns.map((column) => ({ column, best: bestRows(column, rows, update.runs) }));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Figures of the runs">
    <table class="runs">
      <thead>
        <tr>
          ${head(table, 'run', 'Run')}${head(table, 'status', 'Status')}
          ${update.columns.map(({ key, title }) => head(table, key, title))}
        </tr>
      </thead>
      <tbody>
        ${repeat(
          rows,
          (row) => row,
          (row) =>
            html`<tr
              @pointerenter=${() => {
                table.onPoint(row);
              }}
              @pointerleave=${() => {
                table.onPoint(undefined);
              }}
              @focusin=${() => {
                table.onPoint(row);
              }}
              @focusout=${() => {
                table.onPoint(undefined);
              }}
            >
              ${nameCell(table, row)}
              <td class="words">${update.runs[row]?.status}</td>
              ${columns.map(
                ({ column, best }) =>
                  html`<td class=${best.has(row) ? 'best' : ''}>
                    ${column.texts[row]}${best.has(row) ? html`<span class="hidden">, best</span>` : nothing}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function nameCell({ update, view, palette, onShow, onOpen }: RunTableView, row: number): TemplateResult {
  const run = update.runs[row];
  if (!run) return html`<th scope="row"></th>`;
  return html`<th scope="row">
    <div class="namecell">
      <input
        type="checkbox"
        aria-label="Draw ${run.label}"
        title="Draw it in the charts"
        .checked=${!view.hidden.includes(run.dir)}
        @change=${() => {
          onShow(run.dir);
        }}
      />
      ${lineSample(styleOf(row), palette)}
      <button
        type="button"
        class="link"
        title="Open the dashboard of ${run.id}, ${run.profile}"
        @click=${() => {
          onOpen(row);
        }}
      >
        ${run.label}
      </button>
      ${run.tags.map((tag) => html`<small>#${tag}</small>`)}
    </div>
  </th>`;
}

function head({ view, onSort }: RunTableView, key: string, title: string): TemplateResult {
  const down = view.sort?.key === key ? view.sort.down : undefined;
  const sorted = down === undefined ? nothing : down ? 'descending' : 'ascending';
  return html`<th scope="col" aria-sort=${sorted} title=${columnTitles[key] ?? nothing}>
    <button
      type="button"
      class="sort"
      @click=${() => {
        onSort(key);
      }}
    >
      ${title}<span
        class="codicon codicon-${down === undefined ? 'blank' : down ? 'arrow-down' : 'arrow-up'}"
        aria-hidden="true"
      ></span>
    </button>
  </th>`;
}
