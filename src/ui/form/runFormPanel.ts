// The run form in a tab: sends its page what it shows, and carries out what the page asks.
import * as vscode from 'vscode';
import { panelTypes } from '../../contributions.js';
import { isCancelled } from '../../core/base/errors.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import type { AskedRun } from '../../core/plan/request/commandLine.js';
import type { FromForm, ToForm } from '../../webview/formProtocol.js';
import { makeNonce } from '../panels/html.js';
import { tabIcon } from '../panels/tabIcon.js';
import { Throttle } from '../throttle.js';
import { errorWords } from '../remedies.js';
import type { Services } from '../services.js';
import { workspaceFolder } from '../workspace/workspace.js';
import type { FormSession } from './formSession.js';
import { formWords } from './formWords.js';
import type { HoldOut } from './formValidation.js';
import { formPage } from './formPage.js';
import { savePreset } from './savePreset.js';
import type { FormStart, RunFormTab } from './runForms.js';

/** Milliseconds between two updates of the page. */
const updateInterval = 80;

/** What the buttons of the form do. UserError, Cancelled. */
export interface FormActs {
  /** Starts the run and shows it. */
  start: (run: AskedRun) => Promise<void>;
  /** Shows its batch script. */
  showScript: (run: AskedRun) => Promise<void>;
  /** Puts a folder of this machine on all nodes of a profile, and resolves with its path there. */
  upload: (profile: string, folder: string) => Promise<string | undefined>;
  holdOut: HoldOut;
  /** Adds a cluster, and fills this form in with its profile. */
  addCluster: () => Promise<void>;
}

export class RunFormPanel implements RunFormTab {
  private readonly store = new DisposableStore();
  private readonly throttle: Throttle;
  /** Of the newest values that the page sent. */
  private sequence = 0;
  private ready = false;

  /**
   * Owns the session. `panel`: one that came back.
   */
  constructor(
    private readonly services: Services,
    private readonly session: FormSession,
    private readonly acts: FormActs,
    onGone: () => void,
    private readonly panel: vscode.WebviewPanel = vscode.window.createWebviewPanel(
      panelTypes.form,
      'New Run',
      { viewColumn: vscode.ViewColumn.Active },
    ),
  ) {
    const folder = vscode.Uri.file(services.context.asAbsolutePath('dist/webview'));
    this.panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    this.panel.iconPath = tabIcon(services);
    this.throttle = this.store.add(
      new Throttle(
        () => void this.sendView(),
        () => updateInterval,
      ),
    );
    this.store.add(session);
    this.store.add(
      session.onChange((what) => {
        if (what === 'values') this.sendValues();
        this.throttle.poke();
      }),
    );
    this.store.add(this.panel.webview.onDidReceiveMessage((message: FromForm) => void this.receive(message)));
    this.store.add(
      this.panel.onDidChangeViewState(() => {
        // A hidden page is gone; it says `ready` when it comes back.
        if (!this.panel.visible) this.ready = false;
        session.show(this.panel.visible);
      }),
    );
    this.store.add(
      this.panel.onDidDispose(() => {
        this.store.dispose();
        onGone();
      }),
    );
    session.show(this.panel.visible);
    const at = (name: string): string =>
      this.panel.webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
    const nonce = makeNonce();
    const { cspSource: source } = this.panel.webview;
    this.panel.webview.html = formPage({ source, nonce, style: at('form.css'), script: at('form.js') });
    void this.attempt(() => session.begin());
  }

  reveal(): void {
    this.panel.reveal();
  }

  fill(start: FormStart): void {
    this.session.fill(start);
  }

  dispose(): void {
    this.store.dispose(); // the tab is the editor's: it brings it back
  }

  private receive(message: FromForm): Promise<void> {
    const { session } = this;
    return this.attempt(async () => {
      switch (message.type) {
        case 'ready':
          this.ready = true;
          this.sequence = 0;
          this.sendValues();
          await this.sendView();
          break;
        case 'change':
          this.sequence = message.sequence;
          session.change(message.values);
          break;
        case 'load':
          session.load(message.source);
          break;
        case 'connect':
          await session.connect();
          break;
        case 'addCluster':
          session.say(''); // the list shows the chosen profile again
          await this.acts.addCluster();
          break;
        case 'look':
          await session.lookInto(message.path);
          break;
        case 'take':
          await session.take(message.path);
          break;
        case 'upload':
          await this.uploadNow();
          break;
        case 'takeHalves':
          session.takeHalves();
          break;
        case 'holdOut':
          await session.holdOut(this.acts.holdOut);
          break;
        case 'copyHoldOut':
          await vscode.env.clipboard.writeText(session.holdOutCommand());
          session.say('Copied.');
          break;
        case 'chooseFolder':
          await this.chooseFolder();
          break;
        case 'copy':
          await vscode.env.clipboard.writeText(session.commandLine());
          session.say('Copied.');
          break;
        case 'savePreset':
          await savePreset(session);
          break;
        case 'showScript':
          await this.scriptNow();
          break;
        case 'openPresets':
          await session.presets.open();
          break;
        case 'start':
          await this.startNow();
          break;
        case 'failed':
          this.services.logger.log('error', `run form: ${message.message}`);
          break;
      }
    });
  }

  /** What goes wrong is said in the page. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isCancelled(error)) return;
      this.services.logger.log('error', `run form: ${errorWords(error)}`);
      this.session.say(formWords(error), true);
    }
  }

  private async startNow(): Promise<void> {
    const { session } = this;
    if (session.starting) return;
    const asked = session.asked();
    if (!asked) return;
    session.starting = true;
    session.say('');
    try {
      await this.acts.start(session.withDefaults(asked));
      session.say('Started.');
    } catch (error) {
      if (!session.refuse(error)) throw error;
    } finally {
      session.starting = false;
      this.throttle.poke();
    }
  }

  private async scriptNow(): Promise<void> {
    const { session } = this;
    const asked = session.asked('There is no script');
    if (!asked) return;
    await this.acts.showScript(session.withDefaults(asked));
    session.say('The script is shown in a tab. Nothing was started.');
  }

  private async uploadNow(folder?: string): Promise<void> {
    const { session } = this;
    const { profile } = session.values;
    const from = folder ?? (await this.askFolder(session.isHere ? 'Choose This Folder' : 'Upload', ''));
    if (from === undefined) return;
    const path = session.isHere ? from : await this.acts.upload(profile, from);
    if (path === undefined || session.values.profile !== profile) return;
    if (!session.isConnected) await session.connect();
    await session.take(path);
    if (!session.isHere) session.say(`Copied to ${path}.`);
  }

  private async chooseFolder(): Promise<void> {
    const folder = await this.askFolder('Choose This Folder', this.session.values.folder);
    if (folder !== undefined) this.session.replace({ ...this.session.values, folder });
  }

  /** A folder of this machine. */
  private async askFolder(openLabel: string, first: string): Promise<string | undefined> {
    const picked = await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel,
      defaultUri: vscode.Uri.file(first || workspaceFolder()),
    });
    return picked?.[0]?.fsPath;
  }

  private sendValues(): void {
    this.post({ type: 'values', values: this.session.values });
  }

  private async sendView(): Promise<void> {
    if (!this.ready) return;
    const { sequence } = this;
    this.post({ type: 'view', sequence, view: await this.session.view() });
  }

  private post(message: ToForm): void {
    if (!this.ready) return;
    this.panel.webview.postMessage(message).then(undefined, (error: unknown) => {
      this.services.logger.log('debug', `run form: ${errorWords(error)}`);
    });
  }
}
