// The page of a check: nodes as columns, what failed first, and below it what to do.
import type { CheckResult } from '../../core/base/checks.js';
import type { Fix } from '../../core/check/fixes.js';
import { groupsOf, type CheckGroup } from '../../core/model/checkGroups.js';
import {
  checkTable,
  notesOf,
  type CheckCell,
  type CheckNote,
  type CheckTable,
} from '../../core/model/checkTable.js';
import { namesText } from '../../core/model/hosts/nodeNames.js';
import { adviceText, editorRemedy, type RemedyButton } from '../remedies.js';
import { plural } from '../figureText.js';
import { escapeHtml, page } from './html.js';

/** `deep`: links, CPUs and free GPUs are measured too. */
export type CheckState =
  | { kind: 'checking'; deep?: boolean }
  /** `again`: it is being checked once more. */
  | { kind: 'done'; results: readonly CheckResult[]; at: Date; deep?: boolean; again?: boolean }
  | { kind: 'failed'; message: string }
  /** The window was loaded anew since. */
  | { kind: 'forgotten' };

interface CheckedProfile {
  name: string;
  /** The head first. */
  nodes: readonly string[];
  /** Whether its nodes may be measured: those behind a batch system are for many users. */
  measurable: boolean;
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
  thead th { white-space: normal; min-width: 6em; max-width: 26em; overflow-wrap: anywhere; }
  tbody th, thead th:first-child { position: sticky; left: 0; font-weight: 600; white-space: nowrap; background: var(--card); border-right: 1px solid var(--border); }
  td { min-width: 14em; max-width: 26em; overflow-wrap: anywhere; }
  .bad { color: var(--vscode-editorError-foreground); }
  .warns, .differs { color: var(--vscode-editorWarning-foreground); }
  .verdict { display: inline-flex; gap: 4px; align-items: center; font-weight: 600; }
  .verdict .codicon { font-size: 14px; }
  li { padding: 8px 12px; margin-bottom: 8px; border: 1px solid var(--border); border-left: 3px solid var(--vscode-editorError-foreground); border-radius: 4px; background: var(--card); }
  li.warning { border-left-color: var(--vscode-editorWarning-foreground); }
  td button { margin-top: 6px; }
  .tools { display: flex; flex-wrap: wrap; gap: 8px; }
  li p { max-width: 60em; overflow-wrap: anywhere; }
  li button { margin-top: 6px; }
</style>`;

/** A button that runs what mends a row. */
interface FixButton {
  title: string;
  fix: Fix;
}
export type CheckButton = RemedyButton | FixButton;

/** The buttons of remedies, in their order; a page names them by their place. */
export function buttonsOf(profile: Pick<CheckedProfile, 'nodes'>, state: CheckState): CheckButton[] {
  if (state.kind !== 'done') return [];
  return troublesOf(checkTable(state.results, profile.nodes)).flatMap((note) => buttonOf(note) ?? []);
}

export function checkPage(profile: CheckedProfile, state: CheckState, place: Place): string {
  const { nonce, source, style } = place;
  const keep = JSON.stringify({ profile: profile.name }).replace(/</g, '\\u003c');
  const script = `<script nonce="${nonce}">
  const editor = acquireVsCodeApi();
  const each = document.getElementById('each');
  const isEach = () => each?.getAttribute('aria-pressed') === 'true';
  const show = (pressed) => {
    each?.setAttribute('aria-pressed', String(pressed));
    for (const box of document.querySelectorAll('.scroll[data-each]')) box.hidden = (box.dataset.each === 'true') !== pressed;
    editor.setState({ ...${keep}, ...(each ? { each: pressed } : {}) });
  };
  show(editor.getState?.()?.each === true);
  each?.addEventListener('click', () => show(!isEach()));
  for (const button of document.querySelectorAll('button:not(#each)')) button.addEventListener('click', () => {
    const { remedy, deep } = button.dataset;
    editor.postMessage(remedy === undefined ? { type: 'again', deep: deep === 'true' } : { type: 'remedy', button: Number(remedy) });
  });
  addEventListener('message', ({ data }) => {
    const doing = document.getElementById('doing');
    if (data?.type === 'doing' && doing) doing.textContent = data.text;
  });
</script>`;
  const head = `<link rel="stylesheet" href="${escapeHtml(style)}">\n${styles}`;
  const title = `Checks of ${profile.name}`;
  const body = `<main id="app">${bodyOf(profile, state, title)}</main>\n${script}`;
  return page({ source, nonce }, title, head, body);
}

function bodyOf(profile: CheckedProfile, state: CheckState, title: string): string {
  const { measurable } = profile;
  switch (state.kind) {
    case 'checking':
      return header(title, state.deep === true ? lookingDeep : 'Looking at every node…', { busy: true });
    case 'failed':
      return header(title, state.message, { measurable });
    case 'forgotten':
      return header(title, 'Not checked since this window was loaded.', { measurable });
    case 'done': {
      const table = checkTable(state.results, profile.nodes);
      const busy = state.again === true;
      const now = state.deep === true ? 'Checked deeply' : 'Checked';
      const when = busy
        ? 'Checking again…'
        : `${now} at ${state.at.toLocaleTimeString('en-GB', { hour12: false })}.`;
      const groups = groupsOf(table);
      const parts = groups.length < table.nodes.length;
      return [
        header(title, `${headline(table)} ${when}`, { busy, measurable, parts }),
        ...tablesOf(table, parts ? groups : undefined),
        remediesOf(table),
      ].join('\n');
    }
  }
}

const lookingDeep = 'Looking at every node, and measuring links, CPUs and free GPUs…';

interface HeaderOptions {
  /** A check is under way: what it does now is shown, and there is no other one to start. */
  busy?: boolean;
  measurable?: boolean;
  /** Nodes that are alike are shown as one column, unless somebody wants all of them. */
  parts?: boolean;
}

function header(title: string, said: string, options: HeaderOptions): string {
  const { busy = false, measurable = false, parts = false } = options;
  const tools = [
    ...(parts
      ? [`<button id="each" class="secondary" aria-pressed="false">A Column for Each Node</button>`]
      : []),
    ...(busy ? [] : [`<button class="secondary">${codicon('refresh')}Check Again</button>`]),
    ...(busy || !measurable ? [] : [deepButton]),
  ].join('');
  const box = tools === '' ? '' : `<div class="tools">${tools}</div>`;
  const doing = busy ? '<p id="doing" aria-live="polite"></p>' : '';
  return `<header><h1>${escapeHtml(title)}</h1>${box}<p role="status">${escapeHtml(said)}</p>${doing}</header>`;
}

const codicon = (name: string): string => `<span class="codicon codicon-${name}" aria-hidden="true"></span>`;
const deepButton = `<button class="secondary" data-deep="true" title="Measures the links between the nodes, their CPUs and free GPUs too">${codicon('dashboard')}Deep Check</button>`;

function headline({ checks, failed, warned, badNodes }: CheckTable): string {
  const warns = warned === 0 ? '' : ` ${plural(warned, 'warning')}.`;
  if (failed === 0) {
    return warned === 0
      ? `Everything is as a run needs it: ${plural(checks, 'check')}.`
      : `A run can start: ${plural(checks, 'check')}.${warns}`;
  }
  const where = badNodes.length === 0 ? '' : `, at ${listOf(badNodes)}`;
  return `${failed} of ${plural(checks, 'check')} failed${where}.${warns}`;
}

const listOf = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

/** With `groups` a second table, which has them as its columns and is shown first. */
function tablesOf(table: CheckTable, groups: readonly CheckGroup[] | undefined): string[] {
  if (table.rows.length === 0) return [];
  const places = placesOf(table);
  const each = table.nodes.map((name, at) => ({
    name,
    nodes: [name],
    cells: table.rows.map(({ cells, whole }) => cells[at] ?? whole),
  }));
  if (!groups) return [tableOf(table, each, places, '')];
  return [
    tableOf(table, groups, places, ' data-each="false"'),
    tableOf(table, each, places, ' data-each="true" hidden'),
  ];
}

function tableOf(
  { nodes, rows }: CheckTable,
  columns: readonly CheckGroup[],
  places: Places,
  attributes: string,
): string {
  const heads = columns.map(({ name, nodes: members }) => {
    const count = members.length > 1 ? `<br><small>${members.length} nodes</small>` : '';
    return `<th scope="col">${escapeHtml(name)}${count}</th>`;
  });
  const lines = rows.map(({ name }, at) => {
    const cells = columns.map((column) => column.cells[at]);
    return `<tr><th scope="row">${escapeHtml(name)}</th>${cellsOf(name, cells, nodes.length, places)}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="region" aria-label="What each node has"${attributes}><table>
<thead><tr><th scope="col">Check</th>${heads.join('')}</tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div>`;
}

/** What all nodes say alike is said once. */
function cellsOf(
  name: string,
  cells: readonly (CheckCell | undefined)[],
  nodes: number,
  places: Places,
): string {
  const [first] = cells;
  const alike = cells.length > 1 && cells.every((cell) => cell?.detail === first?.detail && isWell(cell));
  if (alike || (first && cells.length > 1 && cells.every((cell) => cell === first))) {
    return cellOf(name, first, cells.length, nodes > 1, places);
  }
  return cells.map((cell) => cellOf(name, cell, 1, false, places)).join('');
}

const isWell = (cell: CheckCell | undefined): boolean => cell?.ok === true && !cell.warning;

function cellOf(
  name: string,
  cell: CheckCell | undefined,
  span: number,
  isAll: boolean,
  places: Places,
): string {
  const wide = span > 1 ? ` colspan="${span}"` : '';
  if (!cell) {
    return `<td${wide}><span aria-hidden="true">–</span><span class="hidden">not looked at</span></td>`;
  }
  const detail = escapeHtml(cell.detail);
  const pressed = buttonText(places, name, cell);
  if (!cell.ok) return `<td${wide}>${verdict('bad', 'error', 'failed')}<br>${detail}${pressed}</td>`;
  if (cell.warning) return `<td${wide}>${verdict('warns', 'warning', 'warning')}<br>${detail}${pressed}</td>`;
  if (cell.differs) return `<td${wide}>${verdict('differs', 'info', 'differs')}<br>${detail}</td>`;
  return `<td${wide}>${detail}${isAll ? ' <small>on all nodes</small>' : ''}</td>`;
}

const verdict = (kind: string, icon: string, word: string): string =>
  `<span class="verdict ${kind}"><span class="codicon codicon-${icon}" aria-hidden="true"></span>${word}</span>`;

/** Of each remedy with a button: its place among them. */
type Places = ReadonlyMap<string, { place: number; title: string }>;

const keyOf = (name: string, { detail, hint }: CheckCell): string => JSON.stringify([name, detail, hint]);

function placesOf(table: CheckTable): Places {
  const pressed = troublesOf(table).flatMap((note) => {
    const button = buttonOf(note);
    return button ? [{ key: keyOf(note.name, note.cell), title: button.title }] : [];
  });
  return new Map(pressed.map(({ key, title }, place) => [key, { place, title }]));
}

/** The button of a cell that is in trouble, where a command of the editor helps. */
function buttonText(places: Places, name: string, cell: CheckCell): string {
  const found = places.get(keyOf(name, cell));
  if (!found) return '';
  return `<br><button class="secondary" data-remedy="${found.place}">${escapeHtml(found.title)}</button>`;
}

function remediesOf(table: CheckTable): string {
  const items = troublesOf(table).map(({ name, nodes, cell }) => {
    const where = nodes.length === 0 ? 'all nodes' : namesText(nodes);
    const advice = adviceText(cell.hint);
    const what = `<p><b>${escapeHtml(name)}</b>, ${escapeHtml(where)}: ${escapeHtml(cell.detail)}.</p>`;
    const kind = cell.ok ? ' class="warning"' : '';
    const pressed = buttonText(placesOf(table), name, cell).replace('<br>', '');
    return `<li${kind}>${what}${advice === '' ? '' : `<p>${escapeHtml(advice)}.</p>`}${pressed}</li>`;
  });
  return items.length === 0 ? '' : `<h2>What to do</h2>\n<ul>${items.join('\n')}</ul>`;
}

/** What failed, and what warns. */
const troublesOf = (table: CheckTable): CheckNote[] => notesOf(table, ({ ok, warning }) => !ok || warning);

function buttonOf({ name: row, nodes: hosts, cell: { hint } }: CheckNote): CheckButton | undefined {
  if (typeof hint === 'string') return undefined;
  if (hint.kind !== 'runCommand' || hosts.length === 0) return editorRemedy(hint).button;
  return { title: `Fix on ${namesText(hosts)}…`, fix: { row, remedy: hint, hosts } };
}
