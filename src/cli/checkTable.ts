// The table of a check in the terminal.
import { notesOf, type CheckCell, type CheckNote, type CheckTable } from '../core/model/checkTable.js';
import { table as aligned } from './format.js';
import { adviceText } from './remedies.js';

/**
 * Nodes as columns with what was seen where that fits into `width` characters, else with the state
 * alone; where that is too wide too, nodes as rows. Below it what is wrong and what differs, where
 * the table has no room for it.
 */
export function checkLines(table: CheckTable, width: number): string[] {
  if (table.nodes.length < 2) return oneNode(table);
  const full = nodesAsColumns(
    table,
    (cell) => `${state(cell)}${cell?.ok === true ? `: ${cell.detail}` : ''}`,
  );
  if (fits(full, width)) return [...full, ...failures(table)];
  const notes = [...failures(table), ...differences(table)];
  const short = nodesAsColumns(table, state);
  return [...(fits(short, width) ? short : nodesAsRows(table)), ...notes];
}

/** As `checkLines` writes them. */
function state(cell: CheckCell | undefined): string {
  if (!cell) return '-';
  if (!cell.ok) return 'FAILED';
  return cell.differs ? 'ok, differs' : 'ok';
}

const fits = (lines: readonly string[], width: number): boolean =>
  lines.every((line) => line.length <= width);

function oneNode({ rows }: CheckTable): string[] {
  const cells = rows.flatMap(({ name, cells, whole }) => {
    const cell = cells[0] ?? whole;
    return cell ? [[name, state(cell), cell.ok ? cell.detail : said(cell)]] : [];
  });
  return aligned(['CHECK', 'STATE', 'DETAIL'], cells);
}

function nodesAsColumns(table: CheckTable, text: (cell: CheckCell | undefined) => string): string[] {
  const rows = table.rows.map(({ name, cells, whole }) => [
    name,
    ...cells.map((cell) => text(cell ?? whole)),
  ]);
  return aligned(['CHECK', ...table.nodes], rows);
}

function nodesAsRows({ nodes, rows }: CheckTable): string[] {
  const head = ['NODE', ...rows.map(({ name }) => name)];
  return aligned(
    head,
    nodes.map((node, at) => [node, ...rows.map(({ cells, whole }) => state(cells[at] ?? whole))]),
  );
}

/** Each with what to do. */
function failures(table: CheckTable): string[] {
  return notesOf(table, (cell) => !cell.ok).map(
    (note) => `FAILED ${note.name}, ${where(note)}: ${said(note.cell)}`,
  );
}

function differences(table: CheckTable): string[] {
  return notesOf(table, (cell) => cell.differs).map(
    (note) => `differs ${note.name}, ${where(note)}: ${note.cell.detail}`,
  );
}

const where = ({ nodes }: CheckNote): string => (nodes.length === 0 ? 'all nodes' : nodes.join(', '));

/** What is wrong, and what to do. */
function said({ detail, hint }: CheckCell): string {
  const advice = adviceText(hint);
  return advice === '' ? detail : `${detail}. ${advice}.`;
}
