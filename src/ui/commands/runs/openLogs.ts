// What a run's processes printed, in an editor: one log as it is, or those of all ranks with the
// rank before each line.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { AgentClient } from '../../../core/agent/agentClient.js';
import { join, type NodePath } from '../../../core/base/nodePath.js';
import {
  byText,
  chooseLogs,
  readLogLines,
  runLogs,
  startOfLastLines,
  type RunLog,
} from '../../../core/follow/runLogs.js';
import { size as sizeText } from '../../figureText.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

interface LogItem {
  label: string;
  description?: string;
  logs: RunLog[];
}

/** Of each log, when it is not opened as the file it is. */
const mostLines = 5000;

export async function openLogs(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Log');
  if (!run) return;
  const machine = await (await ui.services.backend()).machine(run.profile);
  const client = await machine.node.client();
  const { files } = await client.request('run.get', { dir: run.dir });
  const logs = runLogs(files);
  if (logs.length === 0) throw new UserError('usage', `${run.id} has no log yet`, 'Try again in a moment');
  const items = logItems(logs, files);
  const picked =
    items.length === 1
      ? items[0]
      : await vscode.window.showQuickPick(items, { title: `Logs of ${run.id}`, placeHolder: 'Which log?' });
  if (!picked) return;
  const [only, ...others] = picked.logs;
  // On this machine the file itself: the editor shows how it grows.
  if (only && others.length === 0 && machine.shell === undefined) {
    await vscode.window.showTextDocument(vscode.Uri.file(`${run.dir}/${only.file}`), { preview: true });
    return;
  }
  const text = await withProgress('Reading logs', () => readAll(client, run.dir, picked.logs, files));
  const uri = ui.documents.put(`${run.id} ${picked.label}.log`, text);
  await vscode.window.showTextDocument(uri, { preview: true });
}

/** What is offered: what has text first. */
export function logItems(logs: readonly RunLog[], files: Readonly<Record<string, number>>): LogItem[] {
  const { withText, empty } = byText(logs, files);
  const all = chooseLogs(withText);
  return [
    ...(all.length > 1 ? [{ label: 'All ranks and the evaluator', logs: all }] : []),
    ...withText.map((log) => ({
      label: log.source,
      description: sizeText(files[log.file] ?? 0),
      logs: [log],
    })),
    ...empty.map((log) => ({ label: log.source, description: 'empty', logs: [log] })),
  ];
}

async function readAll(
  client: AgentClient,
  dir: NodePath,
  logs: readonly RunLog[],
  files: Readonly<Record<string, number>>,
): Promise<string> {
  const width = Math.max(...logs.map(({ source }) => source.length));
  const label = (source: string): string => (logs.length === 1 ? '' : `${source.padEnd(width)} | `);
  const lines: string[] = [];
  for (const { file, source } of logs) {
    const path = join(dir, file);
    const size = files[file] ?? 0;
    const start = await startOfLastLines(client, path, size, mostLines);
    if (start > 0) lines.push(`${label(source)}… the last ${mostLines} lines of ${path}`);
    await readLogLines(client, path, { start, size }, ({ text }) => {
      lines.push(`${label(source)}${text}`);
    });
  }
  return `${lines.join('\n')}\n`;
}
