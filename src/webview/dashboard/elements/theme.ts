// The editor's colours, for what is drawn on a canvas and so cannot follow style variables by
// itself.
import type { Palette } from './colors.js';

export function readPalette(): Palette {
  const style = getComputedStyle(document.body);
  const read = (fallback: string, ...names: string[]): string => {
    for (const name of names) {
      const value = style.getPropertyValue(`--vscode-${name}`).trim();
      if (value !== '') return value;
    }
    return fallback;
  };
  const foreground = read('#cccccc', 'foreground', 'editor-foreground');
  const kind = document.body.dataset['vscodeThemeKind'] ?? document.body.className;
  return {
    charts: {
      blue: read('#3794ff', 'charts-blue'),
      red: read('#f14c4c', 'charts-red'),
      green: read('#89d185', 'charts-green'),
      orange: read('#d18616', 'charts-orange'),
      purple: read('#b180d7', 'charts-purple'),
      yellow: read('#cca700', 'charts-yellow'),
    },
    foreground,
    muted: read(foreground, 'descriptionForeground'),
    background: read('#1e1e1e', 'editor-background'),
    card: read('#1e1e1e', 'editorWidget-background', 'editor-background'),
    error: read('#f14c4c', 'charts-red', 'errorForeground'),
    warning: read('#cca700', 'charts-orange', 'editorWarning-foreground'),
    font: read('sans-serif', 'font-family'),
    dark: !kind.includes('light'),
    highContrast: kind.includes('high-contrast'),
  };
}

/** Calls back when the editor's theme changes; returns how to stop. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  const attributeFilter = ['class', 'data-vscode-theme-kind', 'data-vscode-theme-id'];
  observer.observe(document.body, { attributes: true, attributeFilter });
  // The variables themselves are set on the root element's style, sometimes after the body's class.
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
  return () => {
    observer.disconnect();
  };
}
