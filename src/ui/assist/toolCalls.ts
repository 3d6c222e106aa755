// One call of a tool by a language model in the editor: the user is asked by the editor before
// something changes.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { toolPrefix } from '../../contributions.js';
import { boundedJson, seen } from '../../core/assist/bounded.js';
import type { Tool } from '../../core/assist/tool.js';
import type { ToolHost } from '../../core/assist/toolHost.js';
import { checkedInput, toolNamed } from '../../core/assist/tools.js';
import { adviceText, errorWords } from '../remedies.js';
import type { Services } from '../services.js';

/** What the editor shows, and for a tool that changes something, asks. */
export async function prepareTool(
  services: Services,
  name: string,
  given: unknown,
): Promise<vscode.PreparedToolInvocation> {
  return inWords(async () => {
    const tool = toolOf(name);
    const input = checkedInput(tool, given);
    const invocationMessage = `Trainyard: ${tool.title}`;
    if (!tool.question) return { invocationMessage };
    const question = await tool.question(await hostOf(services), input);
    const message = new vscode.MarkdownString().appendCodeblock(question, 'text');
    return { invocationMessage, confirmationMessages: { title: tool.title, message } };
  });
}

/** The answer as bounded JSON. Rejects with words for the model. */
export async function invokeTool(
  services: Services,
  name: string,
  given: unknown,
  token: vscode.CancellationToken,
): Promise<vscode.LanguageModelToolResult> {
  return inWords(async () => {
    const tool = toolOf(name);
    const input = checkedInput(tool, given);
    const abort = new AbortController();
    const subscription = token.onCancellationRequested(() => {
      abort.abort();
    });
    try {
      const answer = await tool.run(await hostOf(services), input, { signal: abort.signal });
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(boundedJson(answer))]);
    } finally {
      subscription.dispose();
    }
  });
}

const toolOf = (name: string): Tool => toolNamed(name.slice(toolPrefix.length));

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(seen(errorWords(error)), { cause: error });
  }
}

async function hostOf(services: Services): Promise<ToolHost> {
  const backend = await services.backend();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return {
    profiles: backend.profiles(),
    note: async (id, profile, name) => {
      await backend.note(id, profile, name);
      await backend.monitor.refresh(profile);
    },
    // The editor knows the runs of the profiles that are connected.
    book: {
      profileOf: (text) => {
        const found = backend.monitor.all.find(({ run }) => run.entry.id === text);
        return Promise.resolve(found?.profile);
      },
    },
    cwd: folder?.scheme === 'file' ? folder.fsPath : homedir(),
    machine: ({ name }) => backend.machine(name),
    adviceText,
  };
}
