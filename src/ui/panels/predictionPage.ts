// The page of predictions: each picture with the likeliest classes.
import { basename } from 'node:path';
import type { Prediction } from '../../core/checkpoints/predict.js';
import { percent, plural, whole } from '../figureText.js';
import { escapeHtml, page } from './html.js';

export interface Predicted {
  /** Its name. */
  run: string;
  step: number;
  predictions: readonly Prediction[];
}

interface Place {
  /** `webview.cspSource`. */
  source: string;
  /** Address of the dashboard's style sheet. */
  style: string;
  nonce: string;
  addressOf: (file: string) => string;
}

const styles = `<style>
  .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 12px; padding: 0; list-style: none; }
  .pictures > li { display: flex; gap: 12px; padding: 12px; border: 1px solid var(--border); border-radius: 4px; background: var(--card); }
  img { width: 96px; height: 96px; object-fit: contain; flex: none; background: var(--vscode-editor-background); }
  .said { flex: 1; min-width: 0; }
  h2 { margin: 0 0 6px; font-size: 1em; letter-spacing: normal; text-transform: none; overflow-wrap: anywhere; }
  ol { margin: 0; padding: 0; list-style: none; }
  ol > li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 2px 8px; margin-bottom: 4px; overflow-wrap: anywhere; }
  ol > li:first-child { font-weight: 600; }
  .bar { grid-column: 1 / -1; height: 3px; background: var(--border); }
  .bar > span { display: block; height: 100%; background: var(--vscode-charts-blue); }
  .bad { color: var(--vscode-editorError-foreground); }
</style>`;

export function predictionPage(predicted: Predicted, place: Place): string {
  const { run, step, predictions } = predicted;
  const title = `Predictions of step ${whole(step)}`;
  const bad = predictions.filter(({ top5 }) => top5.length === 0).length;
  const counts = [
    plural(predictions.length, 'picture'),
    ...(bad === 0 ? [] : [`${whole(bad)} cannot be read as a picture`]),
  ];
  const head = `<link rel="stylesheet" href="${escapeHtml(place.style)}">\n${styles}`;
  const body = `<main id="app"><h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(`${run} · ${counts.join(' · ')}`)}</p>
<ul class="pictures">${predictions.map((each) => pictureOf(each, place)).join('\n')}</ul></main>`;
  return page(place, title, head, body);
}

function pictureOf({ file, top5 }: Prediction, { addressOf }: Place): string {
  const name = `<h2 title="${escapeHtml(file)}">${escapeHtml(basename(file))}</h2>`;
  if (top5.length === 0) {
    return `<li><div class="said">${name}<p class="bad">This file cannot be read as a picture. Use JPEG or PNG.</p></div></li>`;
  }
  const classes = top5.map(
    ({ class: label, probability }) =>
      `<li><span>${escapeHtml(label)}</span><span>${percent(probability)}</span><span class="bar" aria-hidden="true"><span style="width: ${(probability * 100).toFixed(1)}%"></span></span></li>`,
  );
  const image = `<img loading="lazy" alt="" src="${escapeHtml(addressOf(file))}">`;
  return `<li>${image}<div class="said">${name}<ol>${classes.join('')}</ol></div></li>`;
}
