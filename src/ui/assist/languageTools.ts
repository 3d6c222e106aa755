// The tools that language models in the editor may use: what they do is loaded when one is asked.
import * as vscode from 'vscode';
import { languageToolNames } from '../../contributions.js';
import { loadLazy } from '../loadLazy.js';
import type { Services } from '../services.js';

const toolCalls = async () => (await loadLazy()).parts.toolCalls();

/** Registers all of them. */
export function registerLanguageTools(services: Services): vscode.Disposable {
  return vscode.Disposable.from(
    ...languageToolNames.map((name) =>
      vscode.lm.registerTool<object>(name, {
        prepareInvocation: async ({ input }) => (await toolCalls()).prepareTool(services, name, input),
        invoke: async ({ input }, token) => (await toolCalls()).invokeTool(services, name, input, token),
      }),
    ),
  );
}
