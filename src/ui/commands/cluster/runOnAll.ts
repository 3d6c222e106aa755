// Run a Command on All Nodes.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { runOnAll as run } from '../../../core/cluster/nodes/fanOut.js';
import { Transcripts } from '../../../core/cluster/nodes/hostLines.js';
import { errorWords } from '../../remedies.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { pickCluster } from './pickCluster.js';

export async function runOnAll(ui: Ui, given?: ProfileArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Run a Command on All Nodes');
  if (!cluster) return;
  const { machine, session } = cluster;
  const command = await vscode.window.showInputBox({
    title: `Run on All Nodes of ${session.profile.name}`,
    prompt: 'A shell command; /bin/sh on each node reads it',
    placeHolder: 'nvidia-smi',
    ignoreFocusOut: true,
  });
  if (command === undefined || command.trim() === '') return;
  const transcripts = new Transcripts(machine.nodes.map(({ name }) => name));
  const endings = await withProgress(`${command} on ${machine.nodes.length} nodes`, ({ signal }) =>
    run(
      machine.nodes,
      ['/bin/sh', '-c', command],
      (line) => {
        transcripts.add(line);
      },
      signal,
    ),
  );
  const parts = endings.map(({ host, code, signal, error }) => {
    const ending = error === undefined ? (signal ?? `exit ${code ?? 'unknown'}`) : errorWords(error);
    return [`── ${host}: ${ending}`, ...transcripts.of(host), ''].join('\n');
  });
  const content = [`$ ${command}`, '', ...parts].join('\n');
  await vscode.window.showTextDocument(ui.documents.put(`All nodes of ${session.profile.name}.txt`, content));
}
