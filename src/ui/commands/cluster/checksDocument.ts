// The results of a check as a table that can be read, kept and sent to whoever runs the cluster.
import * as vscode from 'vscode';
import type { CheckResult } from '../../../core/base/checks.js';
import type { ReadOnlyDocuments } from '../../readOnlyDocuments.js';
import { adviceText } from '../../remedies.js';

/** Markdown: what failed first, each with what to do about it. */
export function checksMarkdown(profile: string, results: readonly CheckResult[]): string {
  const failed = results.filter(({ ok }) => !ok);
  const passed = results.filter(({ ok }) => ok);
  const table = (head: string, rows: readonly string[]): string[] =>
    rows.length === 0 ? [] : [head, head.replace(/[^|]+/g, ' --- '), ...rows, ''];
  const headline =
    failed.length === 0
      ? 'Everything is as a run needs it.'
      : `${failed.length} of ${results.length} checks failed.`;
  return [
    `# Checks of ${profile}`,
    '',
    headline,
    '',
    ...table(
      '| Failed | Node | What it is | What to do |',
      failed.map((each) => row([`**${each.name}**`, each.host ?? '', each.detail, adviceText(each.hint)])),
    ),
    ...table(
      '| Passed | Node | |',
      passed.map(({ name, host, detail }) => row([name, host ?? '', detail])),
    ),
  ].join('\n');
}

const row = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
const escaped = (text: string): string => text.replace(/[|<>`\\]/g, '\\$&').replace(/\s+/g, ' ');

export async function showChecks(
  documents: ReadOnlyDocuments,
  profile: string,
  results: readonly CheckResult[],
): Promise<void> {
  const uri = documents.put(`Checks of ${profile}.md`, checksMarkdown(profile, results));
  try {
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  } catch {
    await vscode.window.showTextDocument(uri); // an editor without its own markdown preview
  }
}
