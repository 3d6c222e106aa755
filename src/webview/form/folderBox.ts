// What is in a folder of the node: a list one walks through by the arrow keys.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { define } from '../dashboard/elements/section.js';
import type { FormFolder } from '../formProtocol.js';

class FolderBox extends LitElement {
  static override properties = {
    folder: { attribute: false },
    look: { attribute: false },
    take: { attribute: false },
    active: { state: true },
  };
  declare folder: FormFolder;
  /** An empty path closes the list. */
  declare look: (path: string) => void;
  declare take: (path: string) => void;
  declare active: number;

  constructor() {
    super();
    this.active = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('folder')) {
      this.active = this.parent() === undefined ? 0 : Math.min(1, this.rows().length - 1);
    }
  }

  protected override firstUpdated(): void {
    this.querySelector<HTMLElement>('[role=listbox]')?.focus();
  }

  protected override updated(): void {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  protected override render(): TemplateResult {
    const { path, folders, others = 0, problem } = this.folder;
    const content =
      folders === undefined
        ? 'looking…'
        : `${folders.length} ${folders.length === 1 ? 'folder' : 'folders'}, ${others} other ${others === 1 ? 'file' : 'files'}`;
    return html`<div class="wide">
      <p class="row"><b class="code">${path}</b><small role="status">${problem ?? content}</small></p>
      <div
        class="popup"
        role="listbox"
        tabindex="0"
        aria-label="Folders in ${path}"
        aria-activedescendant="folder-${this.active}"
        @keydown=${this.onKey}
      >
        ${this.rows().map(
          (name, index) =>
            html`<div
              role="option"
              id="folder-${index}"
              aria-selected=${index === this.active ? 'true' : 'false'}
              @click=${() => {
                this.enter(name);
              }}
            >
              <span
                class="codicon codicon-${name === '..' ? 'arrow-up' : 'folder'}"
                aria-hidden="true"
              ></span>
              ${name === '..' ? 'the folder above' : name}
            </div>`,
        )}
        ${this.rows().length === 0 ? html`<div role="option" id="folder-0" aria-selected="true">no folder in it</div>` : nothing}
      </div>
      <p class="buttons" style="padding-top: 6px">
        ${
          this.hasNone()
            ? nothing
            : html`<button
                type="button"
                class="secondary"
                ?disabled=${folders === undefined}
                @click=${() => {
                  this.take(path);
                }}
              >
                <span class="codicon codicon-check" aria-hidden="true"></span>Train on This Folder
              </button>`
        }
        <button
          type="button"
          class="secondary"
          @click=${() => {
            this.look('');
          }}
        >
          Close
        </button>
      </p>
    </div>`;
  }

  /** `..` and the folders; hidden ones are left out. */
  private rows(): readonly string[] {
    const below = (this.folder.folders ?? []).filter((name) => !name.startsWith('.'));
    return this.parent() === undefined ? below : ['..', ...below];
  }

  /** Whether there is nothing to train on: files of a home or root folder are no data. */
  private hasNone(): boolean {
    const { folders, others = 0, problem } = this.folder;
    if (folders === undefined) return false;
    const visible = folders.some((name) => !name.startsWith('.'));
    return problem !== undefined || (!visible && (others === 0 || this.parent() === undefined));
  }

  private parent(): string | undefined {
    const { path } = this.folder;
    if (path === '/' || path === '~/') return undefined;
    return path.slice(0, path.slice(0, -1).lastIndexOf('/') + 1);
  }

  private enter(name: string | undefined): void {
    if (name === undefined) return;
    this.look(name === '..' ? (this.parent() ?? '/') : `${this.folder.path}${name}/`);
    this.querySelector<HTMLElement>('[role=listbox]')?.focus();
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const rows = this.rows();
    const last = rows.length - 1;
    const moves: Record<string, number> = {
      ArrowDown: Math.min(last, this.active + 1),
      ArrowUp: Math.max(0, this.active - 1),
      Home: 0,
      End: last,
    };
    const to = moves[event.key];
    if (to !== undefined) this.active = Math.max(0, to);
    else if (event.key === 'Enter' || event.key === 'ArrowRight') this.enter(rows[this.active]);
    else if (event.key === 'ArrowLeft' || event.key === 'Backspace') {
      this.enter(this.parent() === undefined ? undefined : '..');
    } else if (event.key === 'Escape') this.look('');
    else if (event.key.length === 1 && /\S/.test(event.key)) {
      const found = rows.findIndex((name) => name.toLowerCase().startsWith(event.key.toLowerCase()));
      if (found >= 0) this.active = found;
    } else return;
    event.preventDefault();
  };
}

define('trainyard-folder', FolderBox);
