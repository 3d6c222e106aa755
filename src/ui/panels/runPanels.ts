// The tabs of one kind that are open, one a run; brought back by the editor after a reload of its
// window.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { Emitter, type Disposable, type Event } from '../../core/base/lifecycle.js';
import { pathFromNode } from '../../core/base/nodePath.js';
import type { Services } from '../services.js';

/** A tab of one run. `reveal` brings it to the front; `dispose` closes it. */
export interface RunPanel extends Disposable {
  readonly run: RunArgument;
  reveal(): void;
}

export interface PanelKind<P extends RunPanel> {
  /** One of `panelTypes`. */
  type: string;
  options: vscode.WebviewPanelOptions & vscode.WebviewOptions;
  /** Fills the tab; `onGone` is to be called when it was closed. */
  make(services: Services, panel: vscode.WebviewPanel, run: RunArgument, onGone: () => void): P;
}

export class RunPanels<P extends RunPanel> implements Disposable {
  private readonly panels = new Map<string, P>();
  private readonly serializer: Disposable;
  private readonly fronts = new Emitter<RunArgument>();

  /** Fires with the run whose tab came to the front. */
  readonly onFront: Event<RunArgument> = this.fronts.event;

  constructor(
    private readonly services: Services,
    private readonly kind: PanelKind<P>,
    private readonly onOpen: () => void,
  ) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(kind.type, {
      deserializeWebviewPanel: (panel: vscode.WebviewPanel, state: unknown) => {
        const run = runOfState(state);
        if (run) this.add(panel, run);
        else panel.dispose();
        return Promise.resolve();
      },
    });
  }

  get open(): readonly P[] {
    return [...this.panels.values()];
  }

  /** In front of all other tabs, with the focus. */
  show(run: RunArgument): P {
    const known = this.panels.get(run.dir);
    if (known) {
      known.reveal();
      return known;
    }
    return this.make(run, { viewColumn: vscode.ViewColumn.Active });
  }

  /** Without the focus, which stays where it is; a tab that is there already stays as it is. */
  openQuietly(run: RunArgument, viewColumn: vscode.ViewColumn): void {
    if (!this.panels.has(run.dir)) this.make(run, { viewColumn, preserveFocus: true });
  }

  close(dir: string): void {
    this.panels.get(dir)?.dispose();
  }

  dispose(): void {
    this.fronts.dispose();
    this.serializer.dispose(); // the tabs are the editor's: it brings them back
  }

  private make(run: RunArgument, where: { viewColumn: vscode.ViewColumn; preserveFocus?: boolean }): P {
    const { type, options } = this.kind;
    return this.add(vscode.window.createWebviewPanel(type, run.id, where, options), run);
  }

  private add(panel: vscode.WebviewPanel, run: RunArgument): P {
    const watching = panel.onDidChangeViewState(() => {
      if (panel.active) this.fronts.fire(run);
    });
    const added = this.kind.make(this.services, panel, run, () => {
      watching.dispose();
      this.panels.delete(run.dir);
    });
    this.panels.set(run.dir, added);
    this.onOpen();
    if (panel.active) this.fronts.fire(run);
    return added;
  }
}

/** The run that a page kept in its state. */
function runOfState(state: unknown): RunArgument | undefined {
  if (typeof state !== 'object' || state === null || !('run' in state)) return undefined;
  const { run } = state;
  if (typeof run !== 'object' || run === null) return undefined;
  if (!('profile' in run) || !('id' in run) || !('dir' in run)) return undefined;
  const { profile, id, dir } = run;
  if (typeof profile !== 'string' || typeof id !== 'string' || typeof dir !== 'string') return undefined;
  return { profile, id, dir: pathFromNode(dir) };
}
