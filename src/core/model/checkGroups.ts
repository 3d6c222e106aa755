// The columns of a check, nodes that are alike as one.
import type { CheckCell, CheckRow, CheckTable } from './checkTable.js';
import { namesText } from './hosts/nodeNames.js';

/** Nodes of which every check says the same, but for figures that differ by their nature. */
export interface CheckGroup {
  /** As a heading: `gpu3-gpu30`. */
  name: string;
  nodes: readonly string[];
  /** One for each row of the table. */
  cells: readonly (CheckCell | undefined)[];
}

/** The groups of a table in the order of their first nodes. */
export function groupsOf({ nodes, rows }: CheckTable): CheckGroup[] {
  const groups = new Map<string, number[]>();
  const scattered = rows.map(isScattered);
  nodes.forEach((_, at) => {
    const key = JSON.stringify(
      rows.map(({ cells, whole }, row) => keyOf(cells[at] ?? whole, scattered[row] === true)),
    );
    groups.set(key, [...(groups.get(key) ?? []), at]);
  });
  return [...groups.values()].map((places) => {
    const members = places.flatMap((at) => nodes[at] ?? []);
    const cells = rows.map(({ cells, whole }) => merged(places.map((at) => cells[at] ?? whole)));
    return { name: namesText(members), nodes: members, cells };
  });
}

/** Each node says something else, such as a path in its home folder, so nobody differs by it. */
function isScattered({ cells }: CheckRow): boolean {
  const details = cells.flatMap((cell) => (cell?.ok === true && !cell.warning ? [cell.detail] : []));
  return details.length > 2 && new Set(details).size === details.length;
}

/** What a group has in common. */
function keyOf(cell: CheckCell | undefined, scattered: boolean): unknown {
  if (!cell) return null;
  const { ok, warning, differs, hint, detail, amount } = cell;
  const isFigure = amount !== undefined || (scattered && ok && !warning);
  if (isFigure) return [ok, warning, typeof hint === 'string' ? hint : hint.kind];
  return [ok, warning, differs, detail, hint];
}

/** Of figures that differ, the lowest and the highest are told. */
function merged(cells: readonly (CheckCell | undefined)[]): CheckCell | undefined {
  const [first] = cells;
  if (!first) return undefined;
  if (first.amount === undefined) {
    const others = new Set(cells.map((cell) => cell?.detail)).size - 1;
    const more = others === 0 ? '' : `, and ${others} others`;
    return { ...first, detail: `${first.detail}${more}` };
  }
  const ordered = cells.flatMap((cell) => cell ?? []).sort((a, b) => (a.amount ?? 0) - (b.amount ?? 0));
  const [lowest = first] = ordered;
  const highest = ordered.at(-1) ?? first;
  if (lowest.detail === highest.detail) return lowest;
  return { ...lowest, detail: `${lowest.detail} to ${highest.detail}` };
}
