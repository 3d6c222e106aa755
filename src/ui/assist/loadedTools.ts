// What a language model asks of a tool. The tools are loaded here, since few sessions need them.
import type * as vscode from 'vscode';
import type { Services } from '../services.js';

export async function prepareTool(
  services: Services,
  name: string,
  given: unknown,
): Promise<vscode.PreparedToolInvocation> {
  const calls = await import('./toolCalls.js');
  return calls.prepareTool(services, name, given);
}

export async function invokeTool(
  services: Services,
  name: string,
  given: unknown,
  token: vscode.CancellationToken,
): Promise<vscode.LanguageModelToolResult> {
  const calls = await import('./toolCalls.js');
  return calls.invokeTool(services, name, given, token);
}
