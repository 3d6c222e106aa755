// The page of a report as its tab shows it: the exported file, in the editor's colours.
import { palettes, paletteRule } from '../../core/scaling/palettes.js';
import { contentPolicy, escapeHtml, page } from './html.js';

/** Brings the tab back after a reload. */
export interface ReportPlace {
  title: string;
  /** Below the folder of all reports: the report's folder, and its page in it. */
  folder: string;
  file: string;
}

/** The page is light or dark as the editor is, whatever the system is. */
const style = `
${paletteRule('body.vscode-dark,body.vscode-high-contrast', palettes.dark)}
${paletteRule('body.vscode-light,body.vscode-high-contrast-light', palettes.light)}
html:has(body.vscode-dark),html:has(body.vscode-high-contrast){color-scheme:dark}
html:has(body.vscode-light),html:has(body.vscode-high-contrast-light){color-scheme:light}
html body[class]{--text:var(--vscode-editor-foreground);--back:var(--vscode-editor-background);
--soft:var(--vscode-descriptionForeground);--line:var(--vscode-widget-border,var(--vscode-panel-border));
--box:var(--vscode-textCodeBlock-background);font-family:var(--vscode-font-family)}
body a{color:var(--vscode-textLink-foreground)}
html body[class*=vscode-high-contrast]{--line:var(--vscode-contrastBorder)}
`;

/** `html`: a whole page of ours without scripts. */
export function reportPage(html: string, place: ReportPlace, nonce: string): string {
  const policy = `<meta http-equiv="Content-Security-Policy" content="${contentPolicy({ nonce })}">`;
  return html
    .replace('<head>', () => `<head>${policy}`)
    .replace(/<div data-run="([^"<]*)"><\/div>/, (_, run: string) => newRunLink(run))
    .replace('</head>', () => `<style>${style}</style></head>`)
    .replace('</body>', () => `${keepsPlace(place, nonce)}</body>`);
}

/** The command that a link of the page may call. */
export const linkedCommand = 'trainyard.newRun';

/** `run`: what the report found best, as JSON in the letters of an address. */
const newRunLink = (run: string): string =>
  `<p><a href="command:${linkedCommand}?${encodeURIComponent('[')}${run}${encodeURIComponent(']')}">New Run</a> opens the form of a run with these settings.</p>`;

/** In the place of a report that cannot be read any more. */
export function lostReportPage(place: ReportPlace, path: string, why: string, nonce: string): string {
  const text = `The report cannot be read from ${path}: ${why}. Measure again, or close this tab.`;
  return page({ nonce }, place.title, '', `<p>${escapeHtml(text)}</p>${keepsPlace(place, nonce)}`);
}

const keepsPlace = (place: ReportPlace, nonce: string): string => {
  const state = JSON.stringify(place).replaceAll('<', '\\u003c');
  return `<script nonce="${nonce}">acquireVsCodeApi().setState(${state});</script>`;
};

/** What a page kept in its state; undefined where it cannot be understood. */
export function reportOfState(state: unknown): ReportPlace | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { title, folder, file } = state as Partial<Record<keyof ReportPlace, unknown>>;
  if (typeof title !== 'string' || !isName(folder) || !isName(file)) return undefined;
  return { title, folder, file };
}

/** Of a file or a folder, and no path. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[^/\\]+$/.test(value) && value !== '..' && value !== '.';
