// The document that the run form's page begins as.
import { escapeHtml, page } from '../panels/html.js';

interface Place {
  /** `webview.cspSource`. */
  source: string;
  nonce: string;
  /** Addresses of the style sheet and of the script. */
  style: string;
  script: string;
}

export const formPage = ({ source, nonce, style, script }: Place): string =>
  page(
    { source, nonce },
    'New run',
    `<link rel="stylesheet" href="${escapeHtml(style)}">`,
    `<div id="app"></div>\n<script nonce="${nonce}" src="${escapeHtml(script)}"></script>`,
  );
