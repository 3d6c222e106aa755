// The theme's chart colours by name; apart from how they are read, which only a browser can.

export type ChartColor = 'blue' | 'red' | 'green' | 'orange' | 'purple' | 'yellow';

/** The editor's colours. */
export interface Palette {
  charts: Record<ChartColor, string>;
  foreground: string;
  muted: string;
  background: string;
  /** Behind a chart. */
  card: string;
  error: string;
  warning: string;
  font: string;
  dark: boolean;
  highContrast: boolean;
}
