// Context keys, set when they change; `when` clauses ask for them.
import * as vscode from 'vscode';
import { contextKeys } from '../contributions.js';

export class ContextKeys {
  private readonly set = new Map<string, boolean>();

  update(values: Partial<Record<keyof typeof contextKeys, boolean>>): void {
    for (const [name, value] of Object.entries(values)) {
      const key = contextKeys[name as keyof typeof contextKeys];
      if (this.set.get(key) === value) continue;
      this.set.set(key, value);
      void vscode.commands.executeCommand('setContext', key, value);
    }
  }
}
