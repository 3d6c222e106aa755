// Pages of webviews: what they may load, and nothing else.
import { randomBytes } from 'node:crypto';

export interface PagePolicy {
  /** Sources of styles, fonts and images; `webview.cspSource`. */
  source?: string;
  /** Origins that may stand in an iframe. */
  frames?: string;
  nonce: string;
}

export const makeNonce = (): string => randomBytes(16).toString('base64url');

/** Scripts run by nonce alone. Styles may be inline: charts and components set them. */
export function contentPolicy({ source = '', frames, nonce }: PagePolicy): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source} 'unsafe-inline'`,
    `font-src ${source}`,
    `img-src ${source} data:`,
    ...(frames === undefined ? [] : [`frame-src ${frames}`]),
  ].join('; ');
}

export function escapeHtml(text: string): string {
  const names: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}

/** A whole page. `head` and `body` are HTML. */
export function page(policy: PagePolicy, title: string, head: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${head}
</head>
<body>
${body}
</body>
</html>`;
}
