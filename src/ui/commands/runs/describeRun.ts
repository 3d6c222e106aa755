// Name, Tags and Notes.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import type { AgentClient } from '../../../core/agent/agentClient.js';
import { aboutOf, type TypedAbout } from '../../../core/plan/request/about.js';
import { pickRun } from '../pick.js';
import { problemOf } from '../problemOf.js';
import type { Ui } from '../ui.js';

/**
 * Asks for each in turn, with what is there now; the run may be under way. What the user leaves as it
 * was stays as it is by then. UserError, AgentError.
 */
export async function describeRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Name, Tags and Notes');
  if (!run) return;
  const backend = await ui.services.backend();
  // Asked for again after the questions: the connection may be another one by then.
  const client = async (): Promise<AgentClient> => (await backend.machine(run.profile)).node.client();
  const { about } = await (await client()).request('run.get', { dir: run.dir });
  const before = { name: about?.name ?? '', tags: about?.tags.join(', ') ?? '', notes: about?.notes ?? '' };
  const name = await ask('Name of the run', before.name, (text) => ({ name: text }));
  if (name === undefined) return;
  const tags = await ask('Tags, with commas between them', before.tags, (text) => ({ tags: [text] }));
  if (tags === undefined) return;
  const notes = await ask('Notes', before.notes, (text) => ({ notes: text }));
  if (notes === undefined) return;
  const typed: TypedAbout = {
    name: name === before.name ? undefined : name,
    tags: tags === before.tags ? undefined : [tags],
    notes: notes === before.notes ? undefined : notes,
  };
  const { about: now } = await (await client()).request('run.get', { dir: run.dir });
  const next = aboutOf(typed, now ?? undefined);
  await (await client()).request('run.describe', { dir: run.dir, about: next });
  await backend.noteName(run.id, next.name);
  backend.feeds.look(run.profile, run.dir);
  await backend.monitor.refresh(run.profile);
}

function ask(
  prompt: string,
  value: string,
  typed: (text: string) => TypedAbout,
): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: 'Name, Tags and Notes',
    prompt: `${prompt}. Leave it empty for none`,
    value,
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => aboutOf(typed(text))),
  });
}
