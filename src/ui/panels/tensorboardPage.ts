// What the TensorBoard tab shows: TensorBoard itself, or a page that says what is happening.
import { escapeHtml, page } from './html.js';

export type TensorBoardState =
  | { kind: 'starting'; what: string }
  | { kind: 'serving'; url: string; origin: string }
  | { kind: 'gone'; message: string; lastLines: readonly string[] };

/** How TensorBoard opens: in the editor's colours, with what a training is watched by on top. */
export function tensorboardQuery(dark: boolean): string {
  const pinned = ['loss', 'top1'].map((tag) => ({ plugin: 'scalars', tag }));
  return new URLSearchParams({ darkMode: String(dark), pinnedCards: JSON.stringify(pinned) }).toString();
}

const styles = `<style>
  html, body { height: 100%; margin: 0; padding: 0; }
  iframe { display: block; width: 100%; height: 100%; border: 0; }
  main { max-width: 46rem; margin: 12vh auto 0; padding: 0 1.5rem; font: var(--vscode-font-size)/1.5 var(--vscode-font-family); color: var(--vscode-foreground); }
  h1 { font-size: 1.3em; font-weight: 600; margin: 0 0 .5em; }
  pre { font: var(--vscode-editor-font-size)/1.4 var(--vscode-editor-font-family); white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem .8rem; background: var(--vscode-textCodeBlock-background); max-height: 40vh; overflow: auto; }
  button { font: inherit; padding: .35rem .9rem; margin-right: .5rem; border: 1px solid var(--vscode-button-border, transparent); border-radius: 2px; color: var(--vscode-button-foreground); background: var(--vscode-button-background); cursor: pointer; }
  button:hover { background: var(--vscode-button-hoverBackground); }
  button.secondary { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
  button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
</style>`;

/** `run` is kept as the page's state, so that the tab comes back after a reload. */
export function tensorboardPage(state: TensorBoardState, run: object, nonce: string): string {
  const keep = JSON.stringify({ run }).replace(/</g, '\\u003c');
  const script = `<script nonce="${nonce}">
  const editor = acquireVsCodeApi();
  editor.setState(${keep});
  for (const button of document.querySelectorAll('button')) button.addEventListener('click', () => editor.postMessage({ type: button.id }));
</script>`;
  return page(
    { nonce, ...(state.kind === 'serving' ? { frames: state.origin } : {}) },
    'TensorBoard',
    styles,
    `${bodyOf(state)}\n${script}`,
  );
}

function bodyOf(state: TensorBoardState): string {
  switch (state.kind) {
    case 'serving':
      return `<iframe title="TensorBoard" src="${escapeHtml(state.url)}" sandbox="allow-scripts allow-same-origin allow-forms allow-downloads allow-popups"></iframe>`;
    case 'starting':
      return `<main role="status"><h1>TensorBoard is starting</h1><p>${escapeHtml(state.what)}…</p></main>`;
    case 'gone': {
      const lines =
        state.lastLines.length === 0 ? '' : `<pre>${escapeHtml(state.lastLines.join('\n'))}</pre>`;
      return `<main role="alert"><h1>TensorBoard is not running</h1><p>${escapeHtml(state.message)}</p>${lines}<p><button id="restart">Restart</button><button id="browser" class="secondary">Open in Browser</button></p></main>`;
    }
  }
}
