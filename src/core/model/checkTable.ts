// Results of a check as a table with a column for each node: the rows that terminal and editor
// show.
import type { CheckResult } from '../base/checks.js';
import type { Advice } from '../base/remedy.js';

/** What one check said of one node. */
export interface CheckCell {
  ok: boolean;
  detail: string;
  /** Empty where all is well. */
  hint: Advice;
  /** A run can start, and may suffer from it. */
  warning: boolean;
  /** It is right, and not what more than half of the nodes say. */
  differs: boolean;
  /** The figure that `detail` tells, where that is of the kind that differs everywhere. */
  amount: number | undefined;
}

/** One check. A cell is undefined where that node was not looked at. */
export interface CheckRow {
  name: string;
  ok: boolean;
  /** One for each node of the table. */
  cells: readonly (CheckCell | undefined)[];
  /** Of all nodes together, in place of the cells. */
  whole: CheckCell | undefined;
}

/** Rows that failed come first, then those with a warning, then those in which a node differs. */
export interface CheckTable {
  nodes: readonly string[];
  rows: readonly CheckRow[];
  /** How many results there are, how many of them are bad, and how many warn. */
  checks: number;
  failed: number;
  warned: number;
  /** Nodes with a bad result. */
  badNodes: readonly string[];
}

/**
 * The table of these results. `nodes`: all of them in the order of the columns, those without a
 * result too. Where there is one node, a result that names none is about that one.
 */
export function checkTable(results: readonly CheckResult[], nodes: readonly string[]): CheckTable {
  const named = results.flatMap(({ host }) => host ?? []);
  const columns = [...new Set([...nodes, ...named])];
  const names = [...new Set(results.map(({ name }) => name))];
  const only = columns.length === 1 ? columns[0] : undefined;
  const rows = names.map((name) => {
    const ofRow = results.filter((result) => result.name === name);
    const of = (host: string | undefined): CheckCell | undefined =>
      joined(ofRow.filter((result) => (result.host ?? only) === host));
    const cells = marked(columns.map(of));
    const whole = of(undefined);
    return { name, ok: ofRow.every(({ ok }) => ok), cells, whole };
  });
  const bad = results.filter(({ ok }) => !ok);
  return {
    nodes: columns,
    rows: [0, 1, 2, 3].flatMap((rank) => rows.filter((row) => rankOf(row) === rank)),
    checks: results.length,
    failed: bad.length,
    warned: results.filter(({ ok, warning }) => ok && warning === true).length,
    badNodes: columns.filter((node) => bad.some(({ host }) => (host ?? only) === node)),
  };
}

/** What matters more has a lower number. */
function rankOf({ ok, cells, whole }: CheckRow): number {
  const all = [...cells, whole];
  if (!ok) return 0;
  if (all.some((cell) => cell?.warning === true)) return 1;
  return all.some((cell) => cell?.differs === true) ? 2 : 3;
}

/** What one check said, the same at each of these nodes. */
export interface CheckNote {
  name: string;
  /** Empty: of all nodes together. */
  nodes: readonly string[];
  cell: CheckCell;
}

/** The cells that are wanted, in the order of the rows. Nodes that say the same share a note. */
export function notesOf({ nodes, rows }: CheckTable, wanted: (cell: CheckCell) => boolean): CheckNote[] {
  return rows.flatMap(({ name, cells, whole }) => {
    const groups = new Map<string, { name: string; nodes: string[]; cell: CheckCell }>();
    const add = (cell: CheckCell | undefined, at: readonly string[]): void => {
      if (!cell || !wanted(cell)) return;
      const same = JSON.stringify([cell.detail, cell.hint]);
      const group = groups.get(same) ?? { name, nodes: [], cell };
      group.nodes.push(...at);
      groups.set(same, group);
    };
    add(whole, []);
    cells.forEach((cell, at) => {
      add(cell, nodes.slice(at, at + 1));
    });
    return [...groups.values()];
  });
}

/** Several results of one check at one node are told in one cell: those that matter most. */
function joined(results: readonly CheckResult[]): CheckCell | undefined {
  const bad = results.filter(({ ok }) => !ok);
  const warned = results.filter(({ warning }) => warning === true);
  const told = bad.length > 0 ? bad : warned.length > 0 ? warned : results;
  const [first] = told;
  if (!first) return undefined;
  return {
    ok: bad.length === 0,
    detail: told.map(({ detail }) => detail).join(', '),
    hint: first.hint,
    warning: bad.length === 0 && warned.length > 0,
    differs: false,
    amount: told.length === 1 ? first.amount : undefined,
  };
}

const isPlain = (cell: CheckCell): boolean => cell.ok && !cell.warning && cell.amount === undefined;

function marked(cells: readonly (CheckCell | undefined)[]): (CheckCell | undefined)[] {
  const good = cells.flatMap((cell) => (cell && isPlain(cell) ? [cell.detail] : []));
  const usual = good.find((detail) => good.filter((other) => other === detail).length * 2 > good.length);
  if (usual === undefined) return [...cells];
  return cells.map((cell) => cell && { ...cell, differs: isPlain(cell) && cell.detail !== usual });
}
