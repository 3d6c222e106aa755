// A scaling report as Markdown.
import {
  commandsOf,
  errorTable,
  measuredTables,
  nextNodeSentences,
  predictionTable,
  subjectOf,
  type PageTable,
} from './pageTables.js';
import type { ScalingReport } from './report.js';

/** Of GitHub's kind; it ends with a newline. */
export function scalingMarkdown(report: ScalingReport): string {
  const { bottleneck, notes } = report;
  const predicted = predictionTable(report);
  const errors = errorTable(report);
  const parts = [
    '# Scaling',
    subjectOf(report),
    ...(bottleneck
      ? [
          '## Bottleneck',
          `**${bottleneck.words}** ${bottleneck.advice}`,
          bottleneck.evidence.map((line) => `- ${line}`).join('\n'),
        ]
      : []),
    ...measuredTables(report).flatMap(markdownTable),
    ...section('What one more node brings', nextNodeSentences(report)),
    ...(predicted ? markdownTable(predicted) : []),
    ...(errors ? markdownTable(errors) : []),
    ...(notes.length > 0 ? ['## Notes', notes.map((note) => `- ${note}`).join('\n')] : []),
    '## Commands',
    commandsOf(report).map(markdownCommand).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** An item of a list: what a command is for, and the command. */
export const markdownCommand = ({ what, command }: { what: string; command: string }): string =>
  `- ${what}:\n\n  \`\`\`\n  ${command}\n  \`\`\``;

const section = (title: string, sentences: readonly string[]): string[] =>
  sentences.length === 0 ? [] : [`## ${title}`, sentences.join(' ')];

/** A title, and a table below it. */
export function markdownTable({ title, head, rows }: PageTable): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [`## ${title}`, [line(head), line(head.map(() => '---:')), ...rows.map(line)].join('\n')];
}
