// A scaling report as one HTML page that needs nothing else: no script, no other file.
import { rateChart, shareChart } from './chart.js';
import {
  commandsOf,
  errorTable,
  measuredTables,
  nextNodeSentences,
  predictionTable,
  subjectOf,
  type PageTable,
} from './pageTables.js';
import { palettes, paletteRule } from './palettes.js';
import type { ScalingReport } from './report.js';

const style = `
:root{color-scheme:light dark}
${paletteRule(':root', palettes.light)}
@media (prefers-color-scheme:dark){${paletteRule(':root', palettes.dark)}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);max-width:1280px;
margin:0 auto;padding:16px}
h1{font-size:24px;margin:8px 0}h2{font-size:17px;margin:28px 0 8px}
p,li{overflow-wrap:anywhere}.soft{color:var(--soft)}
.box{border:1px solid var(--line);border-left:4px solid var(--weak);background:var(--box);
padding:8px 16px;border-radius:4px}.box p{margin:4px 0}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{border:1px solid var(--line);padding:4px 6px;text-align:right}
th{background:var(--box);font-weight:600}
.ahead td,.ahead th{font-style:italic}
.texts :is(td,th):is(:first-child,:last-child,:nth-last-child(2)){text-align:left}
.texts td:is(:first-child,:last-child){overflow-wrap:anywhere;min-width:12em}
.trials :is(td,th){text-align:left}.trials td:last-child{overflow-wrap:anywhere}
figure{margin:12px 0;max-width:760px;overflow-x:auto}figcaption{color:var(--soft);margin-bottom:4px}
.key{margin-left:14px;white-space:nowrap}.key i{display:inline-block;width:12px;height:12px;margin-right:5px;
border-radius:2px;vertical-align:-1px;background:currentColor}
svg{width:100%;min-width:500px;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--soft)}
svg .onBar{fill:#fff}.grid{stroke:var(--line);stroke-width:.6}
.line{fill:none;stroke-width:2}.weak{stroke:var(--weak);color:var(--weak)}
.strong{stroke:var(--strong);color:var(--strong)}.predicted{stroke:var(--ahead);color:var(--ahead);}
.line.predicted{stroke-dasharray:3 4}.ideal{stroke:var(--soft);color:var(--soft);stroke-dasharray:6 4}
.spread{stroke-width:5;opacity:.35}.dot{fill:currentColor}
rect.compute{fill:var(--compute)}rect.communication{fill:var(--communication)}rect.input{fill:var(--input)}
i.compute{color:var(--compute)}i.communication{color:var(--communication)}i.input{color:var(--input)}
pre{background:var(--box);border:1px solid var(--line);border-radius:4px;padding:8px;white-space:pre-wrap;
overflow-wrap:anywhere;font-size:13px;margin:4px 0 12px}
`;

/** Readable in light and dark, and on a narrow screen. */
export function scalingHtml(report: ScalingReport): string {
  const { bottleneck, notes, weak, strong } = report;
  const predicted = predictionTable(report);
  const errors = errorTable(report);
  const body = [
    '<h1>Scaling</h1>',
    `<p class="soft">${escaped(subjectOf(report))}</p>`,
    bottleneck
      ? `<h2>Bottleneck</h2><div class="box" data-kind="${bottleneck.kind}"><p><strong>${escaped(bottleneck.words)}</strong> ${escaped(bottleneck.advice)}</p>${htmlList(bottleneck.evidence)}</div>`
      : '',
    rateChart(report),
    shareChart('Where the time of a step goes, weak scaling', weak),
    shareChart('Where the time of a step goes, strong scaling', strong),
    ...measuredTables(report).map((table) => htmlTable(table)),
    paragraph('What one more node brings', nextNodeSentences(report)),
    predicted ? htmlTable(predicted, 'ahead') : '',
    errors ? htmlTable(errors) : '',
    notes.length > 0 ? `<h2>Notes</h2>${htmlList(notes)}` : '',
    '<h2>Commands</h2>',
    ...commandsOf(report).map(htmlCommand),
  ];
  return htmlPage(`Scaling of ${report.study.profile}`, body);
}

/** A page of parts that are HTML already; empty ones are left out. */
export function htmlPage(title: string, parts: readonly string[]): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(title)}</title><style>${style}</style></head><body>\n${parts.filter((part) => part !== '').join('\n')}\n</body></html>\n`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Text for a page. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');

/** What a command is for, and the command. */
export const htmlCommand = ({ what, command }: { what: string; command: string }): string =>
  `<div>${escaped(what)}</div><pre>${escaped(command)}</pre>`;

/** An unordered list of texts. */
export const htmlList = (lines: readonly string[]): string =>
  `<ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;

const paragraph = (title: string, sentences: readonly string[]): string =>
  sentences.length === 0 ? '' : `<h2>${title}</h2><p>${sentences.map(escaped).join(' ')}</p>`;

/** A figure stays on the line of its unit. */
const withUnit = (text: string): string => text.replace(/^([\d.,]+) (?=\S+$)/, '$1\u00a0');

/** A table with its title above it. */
export function htmlTable({ title, head, rows }: PageTable, kind = ''): string {
  const cells = (tag: string, texts: readonly string[]): string =>
    `<tr>${texts.map((text) => `<${tag}>${escaped(withUnit(text))}</${tag}>`).join('')}</tr>`;
  return `<h2>${escaped(title)}</h2><div class="scroll" tabindex="0" role="region" aria-label="${escaped(title)}, table"><table class="${kind}">${cells('th', head)}${rows.map((row) => cells('td', row)).join('')}</table></div>`;
}
