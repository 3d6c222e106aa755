// Texts that are shown and not edited: nothing asks to save them when they are closed.
import * as vscode from 'vscode';

const scheme = 'trainyard';

export class ReadOnlyDocuments implements vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable;

  constructor() {
    this.registrations = vscode.Disposable.from(
      this.changes,
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: this.changes.event,
        provideTextDocumentContent: (uri) => this.texts.get(uri.path) ?? '',
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === scheme) this.texts.delete(uri.path);
      }),
    );
  }

  /**
   * `name` is the tab's title, with an ending that says what it is; a text of that name is
   * replaced.
   */
  put(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, path: `/${name.replaceAll('/', '-')}` });
    this.texts.set(uri.path, text);
    this.changes.fire(uri);
    return uri;
  }

  dispose(): void {
    this.registrations.dispose();
  }
}
