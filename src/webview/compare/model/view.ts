// What somebody chose on the page of a comparison: kept over a reload.

/** What the charts' x axes count. */
export type CompareAxis = 'step' | 'epoch' | 'hours';

export interface CompareView {
  axis: CompareAxis;
  filter: string;
  /** A column's key, `run` or `status`; null: the order in which the runs were chosen. */
  sort: { key: string; down: boolean } | null;
  /** Folders of runs whose curves are not drawn. */
  hidden: string[];
  /** Names of charts whose tables are open. */
  tables: string[];
}

const usual: CompareView = { axis: 'epoch', filter: '', sort: null, hidden: [], tables: [] };

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

/** What the editor kept; what it does not know is as usual. */
export function readView(kept: unknown): CompareView {
  if (typeof kept !== 'object' || kept === null) return usual;
  const { axis, filter, sort, hidden, tables } = kept as Partial<Record<keyof CompareView, unknown>>;
  const key = typeof sort === 'object' && sort !== null && 'key' in sort ? sort.key : undefined;
  const down = typeof sort === 'object' && sort !== null && 'down' in sort && sort.down === true;
  return {
    axis: axis === 'step' || axis === 'hours' ? axis : 'epoch',
    filter: typeof filter === 'string' ? filter : '',
    sort: typeof key === 'string' ? { key, down } : null,
    hidden: texts(hidden),
    tables: texts(tables),
  };
}
