// The page of predictions: each picture with the likeliest classes.
import { basename } from 'node:path';
import { accuracyOf, type Mistakes } from '../../core/checkpoints/mistakes.js';
import type { Prediction } from '../../core/checkpoints/predict.js';
import { percent, plural, whole } from '../figureText.js';
import { escapeHtml, page } from './html.js';

export interface Predicted {
  /** Its name. */
  run: string;
  step: number;
  predictions: readonly Prediction[];
  /** Undefined where no picture lies in a folder of a class. */
  mistakes: Mistakes | undefined;
}

/** Rows of a table. */
const mostRows = 10;

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
  .mistakes { display: flex; flex-wrap: wrap; gap: 12px 32px; margin: 0 0 16px; }
  table { border-collapse: collapse; }
  caption { padding-bottom: 4px; text-align: left; font-weight: 600; }
  th, td { padding: 2px 16px 2px 0; text-align: left; overflow-wrap: anywhere; }
  th { font-weight: normal; }
  .bad { color: var(--vscode-editorError-foreground); }
</style>`;

export function predictionPage(predicted: Predicted, place: Place): string {
  const { run, step, predictions, mistakes } = predicted;
  const title = `Predictions of step ${whole(step)}`;
  const bad = predictions.filter(({ top5 }) => top5.length === 0).length;
  const counts = [
    plural(predictions.length, 'picture'),
    ...(bad === 0 ? [] : [`${whole(bad)} cannot be read as a picture`]),
    ...(mistakes ? [rightText(mistakes)] : []),
  ];
  const head = `<link rel="stylesheet" href="${escapeHtml(place.style)}">\n${styles}`;
  const body = `<main id="app"><h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(`${run} · ${counts.join(' · ')}`)}</p>${mistakes ? mistakeTables(mistakes) : ''}
<ul class="pictures">${predictions.map((each) => pictureOf(each, place)).join('\n')}</ul></main>`;
  return page(place, title, head, body);
}

const rightText = (mistakes: Mistakes): string =>
  `${whole(mistakes.right)} of ${whole(mistakes.images)} in class folders are right (${percent(accuracyOf(mistakes))})`;

/** Nothing where all are right. */
function mistakeTables({ images, right, classes, confusions }: Mistakes): string {
  if (right === images) return '';
  const scores = classes.map((each) => [
    each.class,
    `${whole(each.right)} of ${whole(each.images)}`,
    percent(accuracyOf(each)),
  ]);
  const pairs = confusions.map((each) => [each.class, each.predicted, whole(each.images)]);
  return `
<div class="mistakes">${tableOf('Least accurate classes', ['class', 'right', 'accuracy'], scores)}
${tableOf('Most frequent mistakes', ['class', 'taken for', 'pictures'], pairs)}</div>`;
}

function tableOf(caption: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: 'td' | 'th scope="col"'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag.slice(0, 2)}>`).join('')}</tr>`;
  const body = rows.slice(0, mostRows).map((cells) => line(cells, 'td'));
  return `<table><caption>${caption}</caption><thead>${line(head, 'th scope="col"')}</thead><tbody>${body.join('')}</tbody></table>`;
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
