// Figures as people read them; columns that keep their width.

export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[unit] ?? ''}`;
}

export const percentText = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;

/** `top-1 54.5%, top-5 91.0%`; without a top-5 of 1, which of few classes says nothing. */
export function accuracyText({ top1, top5 }: { top1: number; top5: number }): string {
  return `top-1 ${percentText(top1)}${top5 < 1 ? `, top-5 ${percentText(top5)}` : ''}`;
}

export function rateText(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
}

/** `2026-11-21 10:45:00`, in the reader's time zone. */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** Rows under a head, columns aligned; `right` holds the indices of columns of figures. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? '';
        return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line);
}
