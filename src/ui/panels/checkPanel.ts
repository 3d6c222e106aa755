// What the checks of a profile found, in a tab for each profile.
import * as vscode from 'vscode';
import { panelTypes } from '../../contributions.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { Services } from '../services.js';
import { buttonsOf, checkPage, type CheckButton, type CheckState } from './checkPage.js';
import { makeNonce } from './html.js';
import { tabIcon } from './tabIcon.js';

type Named = Pick<Profile, 'name' | 'hosts' | 'head'> & Partial<Pick<Profile, 'kind'>>;

export class CheckPanels implements Disposable {
  private readonly panels = new Map<string, CheckPanel>();
  private readonly serializer: Disposable;

  /** `press`: does what a button of the page of this profile says. */
  constructor(
    private readonly services: Services,
    private readonly press: (button: CheckButton, profile: string) => Promise<void>,
  ) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes.checks, {
      deserializeWebviewPanel: (panel: vscode.WebviewPanel, state: unknown) => {
        const name = profileOfState(state);
        if (name === undefined) panel.dispose();
        else this.add(panel, { name }).show({ name }, { kind: 'forgotten' });
        return Promise.resolve();
      },
    });
  }

  show(profile: Named, state: CheckState): void {
    const { name } = profile;
    const known = this.panels.get(name);
    const where = { viewColumn: vscode.ViewColumn.Active };
    const panel =
      known ??
      this.add(
        vscode.window.createWebviewPanel(panelTypes.checks, name, where, { enableScripts: true }),
        profile,
      );
    panel.show(profile, state);
    if (state.kind === 'checking') panel.reveal();
  }

  /** What the check that is under way does now. */
  tell({ name }: Named, text: string): void {
    this.panels.get(name)?.tell(text);
  }

  dispose(): void {
    this.serializer.dispose(); // the tabs are the editor's: it brings them back
  }

  private add(panel: vscode.WebviewPanel, { name }: Named): CheckPanel {
    const added = new CheckPanel(this.services, panel, name, this.press, () => {
      this.panels.delete(name);
    });
    this.panels.set(name, added);
    return added;
  }
}

class CheckPanel {
  private last: CheckState = { kind: 'forgotten' };
  private buttons: readonly CheckButton[] = [];

  constructor(
    services: Services,
    private readonly panel: vscode.WebviewPanel,
    private readonly name: string,
    press: (button: CheckButton, profile: string) => Promise<void>,
    onGone: () => void,
  ) {
    this.folder = vscode.Uri.file(services.context.asAbsolutePath('dist/webview'));
    panel.webview.options = { enableScripts: true, localResourceRoots: [this.folder] };
    panel.iconPath = tabIcon(services);
    panel.title = `Checks of ${name}`;
    const messages = panel.webview.onDidReceiveMessage(
      ({ type, button, deep }: { type: string; button?: number; deep?: boolean }) => {
        if (type === 'again') {
          void vscode.commands.executeCommand('trainyard.checkProfile', { profile: name, deep });
        }
        const remedy = type === 'remedy' ? this.buttons[button ?? -1] : undefined;
        if (remedy) void press(remedy, name);
      },
    );
    panel.onDidDispose(() => {
      messages.dispose();
      onGone();
    });
  }

  private readonly folder: vscode.Uri;

  /** While it is checked once more, what was found before stays. */
  show({ hosts = [], head, kind }: Named, state: CheckState): void {
    const before = this.last.kind === 'done' ? this.last : undefined;
    const shown = state.kind === 'checking' && before ? { ...before, again: true } : state;
    this.last = state.kind === 'checking' && before ? before : state;
    const names = hosts.map(({ host }) => host);
    const nodes = [...names.filter((host) => host === head), ...names.filter((host) => host !== head)];
    const { webview } = this.panel;
    const style = webview.asWebviewUri(vscode.Uri.joinPath(this.folder, 'dashboard.css')).toString();
    const place = { source: webview.cspSource, style, nonce: makeNonce() };
    const profile = {
      name: this.name,
      nodes: nodes.length === 0 ? [this.name] : nodes,
      measurable: kind !== 'slurm',
    };
    this.buttons = buttonsOf(profile, shown);
    webview.html = checkPage(profile, shown, place);
  }

  tell(text: string): void {
    void this.panel.webview.postMessage({ type: 'doing', text });
  }

  reveal(): void {
    this.panel.reveal();
  }
}

/** The profile that a page kept in its state. */
function profileOfState(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('profile' in state)) return undefined;
  return typeof state.profile === 'string' ? state.profile : undefined;
}
