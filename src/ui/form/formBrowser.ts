// The folder of the node that the form's list shows.
import { nodePath } from '../../core/base/nodePath.js';
import type { Machine } from '../../core/cluster/nodes/machine.js';
import type { FormFolder } from '../../webview/formProtocol.js';
import { errorWords } from '../remedies.js';

export class FormBrowser {
  folder: FormFolder | null = null;

  constructor(private readonly changed: () => void) {}

  /** An empty path closes the list. */
  async look(machine: Machine | undefined, path: string): Promise<void> {
    this.folder = path === '' || !machine ? null : { path };
    this.changed();
    if (!machine || path === '') return;
    let seen: FormFolder;
    try {
      const { folders, others } = await machine.list(nodePath(path));
      seen = { path, folders, others };
    } catch (error) {
      seen = { path, folders: [], problem: errorWords(error) };
    }
    if (this.folder?.path === path) this.folder = seen;
    this.changed();
  }

  close(): void {
    this.folder = null;
  }
}
