// Figures as comma-separated values, as RFC 4180 has them.

/** A header and rows; null is an empty field. Numbers keep all their digits. */
export function csvOf(
  head: readonly string[],
  rows: readonly (readonly (number | string | null | undefined)[])[],
): string {
  const line = (cells: readonly (number | string | null | undefined)[]): string =>
    `${cells.map(field).join(',')}\n`;
  return [line(head), ...rows.map(line)].join('');
}

const field = (cell: number | string | null | undefined): string => {
  const text = String(cell ?? '');
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};
