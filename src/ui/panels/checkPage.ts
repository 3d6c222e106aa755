// The page of a check: nodes as columns, what failed first, and below it what to do.
import type { CheckResult } from '../../core/base/checks.js';
import {
  checkTable,
  notesOf,
  type CheckCell,
  type CheckNote,
  type CheckRow,
  type CheckTable,
} from '../../core/model/checkTable.js';
import { adviceText, editorRemedy, type RemedyButton } from '../remedies.js';
import { plural } from '../words.js';
import { escapeHtml, page } from './html.js';

export type CheckState =
  | { kind: 'checking' }
  /** `again`: it is being checked once more. */
  | { kind: 'done'; results: readonly CheckResult[]; at: Date; again?: boolean }
  | { kind: 'failed'; message: string }
  /** The window was loaded anew since. */
  | { kind: 'forgotten' };

interface CheckedProfile {
  name: string;
  /** The head first. */
  nodes: readonly string[];
}

interface Place {
  /** `webview.cspSource`. */
  source: string;
  /** Address of the dashboard's style sheet. */
  style: string;
  nonce: string;
}

const styles = `<style>
  header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; justify-content: space-between; margin-bottom: 12px; }
  header p { flex-basis: 100%; }
  h2 { margin: 20px 0 8px; }
  .scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: 4px; background: var(--card); }
  table { border-collapse: separate; border-spacing: 0; min-width: 100%; }
  th, td { padding: 5px 12px; text-align: left; vertical-align: top; white-space: normal; color: inherit; border-bottom: 1px solid var(--border); }
  tbody tr:last-child > * { border-bottom: 0; }
  thead th { white-space: nowrap; }
  tbody th, thead th:first-child { position: sticky; left: 0; font-weight: 600; white-space: nowrap; background: var(--card); border-right: 1px solid var(--border); }
  td { min-width: 14em; max-width: 26em; overflow-wrap: anywhere; }
  .bad { color: var(--vscode-editorError-foreground); }
  .differs { color: var(--vscode-editorWarning-foreground); }
  .verdict { display: inline-flex; gap: 4px; align-items: center; font-weight: 600; }
  .verdict .codicon { font-size: 14px; }
  li { padding: 8px 12px; margin-bottom: 8px; border: 1px solid var(--border); border-left: 3px solid var(--vscode-editorError-foreground); border-radius: 4px; background: var(--card); }
  li p { max-width: 60em; overflow-wrap: anywhere; }
  li button { margin-top: 6px; }
</style>`;

/** The buttons below the table, in their order; a page names them by their place. */
export function buttonsOf(profile: CheckedProfile, state: CheckState): RemedyButton[] {
  if (state.kind !== 'done') return [];
  return failuresOf(checkTable(state.results, profile.nodes)).flatMap((note) => buttonOf(note) ?? []);
}

export function checkPage(profile: CheckedProfile, state: CheckState, place: Place): string {
  const { nonce, source, style } = place;
  const keep = JSON.stringify({ profile: profile.name }).replace(/</g, '\\u003c');
  const script = `<script nonce="${nonce}">
  const editor = acquireVsCodeApi();
  editor.setState(${keep});
  for (const button of document.querySelectorAll('button')) button.addEventListener('click', () => {
    const { remedy } = button.dataset;
    editor.postMessage(remedy === undefined ? { type: 'again' } : { type: 'remedy', button: Number(remedy) });
  });
</script>`;
  const head = `<link rel="stylesheet" href="${escapeHtml(style)}">\n${styles}`;
  const title = `Checks of ${profile.name}`;
  const body = `<main id="app">${bodyOf(profile, state, title)}</main>\n${script}`;
  return page({ source, nonce }, title, head, body);
}

function bodyOf(profile: CheckedProfile, state: CheckState, title: string): string {
  switch (state.kind) {
    case 'checking':
      return header(title, 'Looking at every node…', false);
    case 'failed':
      return header(title, state.message, true);
    case 'forgotten':
      return header(title, 'Not checked since this window was loaded.', true);
    case 'done': {
      const table = checkTable(state.results, profile.nodes);
      const found = `${headline(table)} ${state.again === true ? 'Checking again…' : `Checked at ${state.at.toLocaleTimeString()}.`}`;
      return [header(title, found, state.again !== true), tableOf(table), remediesOf(table)].join('\n');
    }
  }
}

function header(title: string, said: string, again: boolean): string {
  const button = again
    ? `<button class="secondary"><span class="codicon codicon-refresh" aria-hidden="true"></span>Check Again</button>`
    : '';
  return `<header><h1>${escapeHtml(title)}</h1>${button}<p role="status">${escapeHtml(said)}</p></header>`;
}

function headline({ checks, failed, badNodes }: CheckTable): string {
  if (failed === 0) return `Everything is as a run needs it: ${plural(checks, 'check')}.`;
  const where = badNodes.length === 0 ? '' : `, at ${listOf(badNodes)}`;
  return `${failed} of ${plural(checks, 'check')} failed${where}.`;
}

const listOf = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

function tableOf({ nodes, rows }: CheckTable): string {
  if (rows.length === 0) return '';
  const columns = nodes.map((node) => `<th scope="col">${escapeHtml(node)}</th>`).join('');
  const lines = rows.map((row) => `<tr><th scope="row">${escapeHtml(row.name)}</th>${cellsOf(row)}</tr>`);
  return `<div class="scroll" tabindex="0" role="region" aria-label="What each node has"><table>
<thead><tr><th scope="col">Check</th>${columns}</tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div>`;
}

/** What all nodes say alike is said once. */
function cellsOf({ cells, whole }: CheckRow): string {
  const [first] = cells;
  const alike = cells.length > 1 && cells.every((cell) => cell?.ok === true && cell.detail === first?.detail);
  const one = alike ? first : cells.every((cell) => cell === undefined) ? whole : undefined;
  if (one) return cellOf(one, cells.length, cells.length > 1);
  return cells.map((cell) => cellOf(cell ?? whole, 1, false)).join('');
}

function cellOf(cell: CheckCell | undefined, span: number, isAll: boolean): string {
  const wide = span > 1 ? ` colspan="${span}"` : '';
  if (!cell) {
    return `<td${wide}><span aria-hidden="true">–</span><span class="hidden">not looked at</span></td>`;
  }
  const detail = escapeHtml(cell.detail);
  if (!cell.ok) return `<td${wide}>${verdict('bad', 'error', 'failed')}<br>${detail}</td>`;
  if (cell.differs) return `<td${wide}>${verdict('differs', 'warning', 'differs')}<br>${detail}</td>`;
  return `<td${wide}>${detail}${isAll ? ' <small>on all nodes</small>' : ''}</td>`;
}

const verdict = (kind: string, icon: string, word: string): string =>
  `<span class="verdict ${kind}"><span class="codicon codicon-${icon}" aria-hidden="true"></span>${word}</span>`;

function remediesOf(table: CheckTable): string {
  let place = 0;
  const items = failuresOf(table).map((note) => {
    const { name, nodes, cell } = note;
    const where = nodes.length === 0 ? 'all nodes' : nodes.join(', ');
    const advice = adviceText(cell.hint);
    const button = buttonOf(note);
    const pressed = button
      ? `<button class="secondary" data-remedy="${place++}">${escapeHtml(button.title)}</button>`
      : '';
    const what = `<p><b>${escapeHtml(name)}</b>, ${escapeHtml(where)}: ${escapeHtml(cell.detail)}.</p>`;
    return `<li>${what}${advice === '' ? '' : `<p>${escapeHtml(advice)}.</p>`}${pressed}</li>`;
  });
  return items.length === 0 ? '' : `<h2>What to do</h2>\n<ul>${items.join('\n')}</ul>`;
}

const failuresOf = (table: CheckTable): CheckNote[] => notesOf(table, ({ ok }) => !ok);

function buttonOf({ cell: { hint } }: CheckNote): RemedyButton | undefined {
  return typeof hint === 'string' ? undefined : editorRemedy(hint).button;
}
