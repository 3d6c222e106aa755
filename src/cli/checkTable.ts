// The table of a check in the terminal.
import { groupsOf, type CheckGroup } from '../core/model/checkGroups.js';
import { notesOf, type CheckCell, type CheckNote, type CheckTable } from '../core/model/checkTable.js';
import { namesText } from '../core/model/hosts/nodeNames.js';
import { table as aligned } from './format.js';
import { adviceText } from './remedies.js';

/**
 * Nodes as columns with what was seen where that fits into `width` characters, else nodes that are
 * alike as one column; where that does not fit either, the states alone, of nodes or of groups; else
 * groups as rows. Below it what is wrong, and what warns or differs where the table has no room for
 * it.
 */
export function checkLines(table: CheckTable, width: number): string[] {
  if (table.nodes.length < 2) return oneNode(table);
  const groups = groupsOf(table);
  const each = nodesOf(table);
  for (const columns of [each, groups]) {
    const full = asColumns(table, columns, (cell) => `${state(cell)}${seen(cell)}`);
    if (fits(full, width)) return [...full, ...failures(table), ...warnings(table)];
  }
  const notes = [...failures(table), ...warnings(table), ...differences(table)];
  const short = [each, groups].map((columns) => asColumns(table, columns, state));
  return [...(short.find((lines) => fits(lines, width)) ?? asRows(table, groups)), ...notes];
}

/** As `checkLines` writes them. */
function state(cell: CheckCell | undefined): string {
  if (!cell) return '-';
  if (!cell.ok) return 'FAILED';
  if (cell.warning) return 'WARNS';
  return cell.differs ? 'ok, differs' : 'ok';
}

/** What is wrong or warns is told below the table. */
const seen = (cell: CheckCell | undefined): string =>
  cell?.ok === true && !cell.warning ? `: ${cell.detail}` : '';

const fits = (lines: readonly string[], width: number): boolean =>
  lines.every((line) => line.length <= width);

function oneNode({ rows }: CheckTable): string[] {
  const cells = rows.flatMap(({ name, cells, whole }) => {
    const cell = cells[0] ?? whole;
    return cell ? [[name, state(cell), said(cell)]] : [];
  });
  return aligned(['CHECK', 'STATE', 'DETAIL'], cells);
}

type Column = Pick<CheckGroup, 'name' | 'cells'>;

const nodesOf = ({ nodes, rows }: CheckTable): Column[] =>
  nodes.map((name, at) => ({ name, cells: rows.map(({ cells, whole }) => cells[at] ?? whole) }));

function asColumns(
  { rows }: CheckTable,
  columns: readonly Column[],
  text: (cell: CheckCell | undefined) => string,
): string[] {
  const lines = rows.map(({ name }, at) => [name, ...columns.map(({ cells }) => text(cells[at]))]);
  return aligned(['CHECK', ...columns.map(({ name }) => name)], lines);
}

/** Rows of the table in which all nodes are well alike are left out. */
function asRows({ rows }: CheckTable, groups: readonly CheckGroup[]): string[] {
  const told = rows.flatMap(({ name }, at) =>
    groups.some(({ cells }) => state(cells[at]) !== 'ok') ? [{ name, at }] : [],
  );
  const left = rows.length - told.length;
  const lines = groups.map(({ name, cells }) => [name, ...told.map(({ at }) => state(cells[at]))]);
  const others = `${left} other ${left === 1 ? 'check is' : 'checks are'} ok on all nodes`;
  return [...aligned(['NODE', ...told.map(({ name }) => name)], lines), ...(left > 0 ? [others] : [])];
}

/** Each with what to do. */
function failures(table: CheckTable): string[] {
  return notesOf(table, (cell) => !cell.ok).map(
    (note) => `FAILED ${note.name}, ${where(note)}: ${said(note.cell)}`,
  );
}

function warnings(table: CheckTable): string[] {
  return notesOf(table, (cell) => cell.warning).map(
    (note) => `WARNS ${note.name}, ${where(note)}: ${said(note.cell)}`,
  );
}

function differences(table: CheckTable): string[] {
  return notesOf(table, (cell) => cell.differs).map(
    (note) => `differs ${note.name}, ${where(note)}: ${note.cell.detail}`,
  );
}

const where = ({ nodes }: CheckNote): string => (nodes.length === 0 ? 'all nodes' : namesText(nodes));

/** What is wrong, and what to do. */
function said({ detail, hint }: CheckCell): string {
  const advice = adviceText(hint);
  return advice === '' ? detail : `${detail}. ${advice}.`;
}
