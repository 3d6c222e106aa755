// The page of a run's dashboard, before its script draws it.
import type { RunArgument } from '../../contributions.js';
import { escapeHtml, page } from './html.js';

interface Place {
  /** `webview.cspSource`. */
  source: string;
  nonce: string;
  /** Addresses of the style sheet and the script. */
  style: string;
  script: string;
}

/** It says that it connects, so it is not blank until the script is there. */
export function dashboardPage(run: RunArgument, { source, nonce, style, script }: Place): string {
  const identity = escapeHtml(JSON.stringify({ profile: run.profile, id: run.id, dir: run.dir }));
  const words = '<main class="message"><p role="status">Connecting to the run…</p></main>';
  return page(
    { source, nonce },
    `Dashboard of ${run.id}`,
    `<link rel="stylesheet" href="${escapeHtml(style)}">`,
    `<div id="app" data-run="${identity}">${words}</div>\n<script nonce="${nonce}" src="${escapeHtml(script)}"></script>`,
  );
}
