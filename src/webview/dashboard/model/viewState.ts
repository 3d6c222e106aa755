// How the page is set, kept over a hidden tab and a reloaded window.

/** What the x axis of the charts counts. */
export const xAxes = ['time', 'step', 'epoch'] as const;
export type XAxis = (typeof xAxes)[number];

export interface ViewState {
  runId: string | undefined;
  /** When somebody last looked, by the extension's clock. */
  lastSeen: number | undefined;
  /** In the unit of the x axis. */
  zoom: [number, number] | undefined;
  /** 0 to 0.99. */
  smoothing: number;
  logLoss: boolean;
  axis: XAxis;
  /** Outliers too. */
  allValues: boolean;
  paused: boolean;
  source: string;
  errorsOnly: boolean;
  filter: string;
  heat: 'memory' | 'utilization';
  /** Hosts that are open, or closed, other than they begin. */
  turnedHosts: string[];
  /** Charts that show their table. */
  tables: string[];
}

export const initialView = (): ViewState => ({
  runId: undefined,
  lastSeen: undefined,
  zoom: undefined,
  smoothing: 0.6,
  logLoss: false,
  axis: 'time',
  allValues: false,
  paused: false,
  source: '',
  errorsOnly: false,
  filter: '',
  heat: 'utilization',
  turnedHosts: [],
  tables: [],
});

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/**
 * Of what was kept, by this version of the page or another: whatever does not fit is left at its
 * default.
 */
export function readView(kept: unknown): ViewState {
  const view = initialView();
  if (typeof kept !== 'object' || kept === null) return view;
  const from = kept as Partial<Record<keyof ViewState, unknown>>;
  if (typeof from.runId === 'string') view.runId = from.runId;
  if (isNumber(from.lastSeen)) view.lastSeen = from.lastSeen;
  if (Array.isArray(from.zoom)) {
    const [low, high] = from.zoom as unknown[];
    if (isNumber(low) && isNumber(high) && low < high) view.zoom = [low, high];
  }
  if (isNumber(from.smoothing)) view.smoothing = Math.min(0.99, Math.max(0, from.smoothing));
  for (const name of ['logLoss', 'allValues', 'paused', 'errorsOnly'] as const) {
    if (typeof from[name] === 'boolean') view[name] = from[name];
  }
  for (const name of ['source', 'filter'] as const) {
    if (typeof from[name] === 'string') view[name] = from[name];
  }
  if (from.axis === 'step' || from.axis === 'epoch') view.axis = from.axis;
  if (from.heat === 'memory') view.heat = 'memory';
  for (const name of ['turnedHosts', 'tables'] as const) {
    const list: unknown = from[name];
    if (Array.isArray(list)) view[name] = list.filter((each): each is string => typeof each === 'string');
  }
  return view;
}
