// Many names of nodes in few words.

interface Numbered {
  name: string;
  before: string;
  /** As it is written; undefined where the name ends with no number. */
  digits: string | undefined;
}

/**
 * The names in their order, rows of three or more that count up as one: `gpu1, gpu3-gpu30`. Numbers
 * with leading zeros count where they keep their length.
 */
export function namesText(names: readonly string[]): string {
  const rows: Numbered[][] = [];
  for (const name of names) {
    const [, before = name, digits] = /^(.*?)(\d{1,9})$/.exec(name) ?? [];
    const each = { name, before, digits };
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row && last && follows(last, each)) row.push(each);
    else rows.push([each]);
  }
  return rows
    .flatMap((row) => {
      const [first] = row;
      const last = row.at(-1);
      return first && last && row.length > 2 ? [`${first.name}-${last.name}`] : row.map(({ name }) => name);
    })
    .join(', ');
}

function follows(a: Numbered, b: Numbered): boolean {
  if (a.digits === undefined || b.digits === undefined || a.before !== b.before) return false;
  if (Number(b.digits) !== Number(a.digits) + 1) return false;
  const padded = a.digits.startsWith('0') || b.digits.startsWith('0');
  return !padded || a.digits.length === b.digits.length;
}
