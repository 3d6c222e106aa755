// The colours of a report's page, by the names that its style uses.

const light = {
  ...{ text: '#1f2328', soft: '#59636e', back: '#fff', line: '#d1d9e0', box: '#f6f8fa' },
  ...{ weak: '#0969da', strong: '#8250df', ahead: '#9a6700' },
  ...{ compute: '#2f7ed8', communication: '#d97706', input: '#2e8b57' },
} as const;

const dark: Palette = {
  ...{ text: '#e6edf3', soft: '#9198a1', back: '#0d1117', line: '#3d444d', box: '#151b23' },
  ...{ weak: '#4493f8', strong: '#ab7df8', ahead: '#d29922' },
  ...{ compute: '#316dca', communication: '#b35900', input: '#2b7a46' },
};

type Palette = Record<keyof typeof light, string>;

/** Both of the page's looks. */
export const palettes: Record<'light' | 'dark', Palette> = { light, dark };

/** A rule of CSS that names the colours for what `selector` selects. */
export const paletteRule = (selector: string, palette: Palette): string =>
  `${selector}{${Object.entries(palette)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';')}}`;
