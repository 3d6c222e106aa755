// A button that opens a short menu. Arrow keys move in it, Escape closes it, and the focus returns
// to the button.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { define } from './section.js';

export interface MenuItem {
  label: string;
  icon: string;
  run: () => void;
}

let serial = 0;

class Menu extends LitElement {
  static override properties = {
    label: { attribute: false },
    icon: { attribute: false },
    iconOnly: { attribute: false },
    items: { attribute: false },
    open: { state: true },
  };
  declare label: string;
  declare icon: string;
  declare iconOnly: boolean;
  declare items: MenuItem[];
  declare open: boolean;
  private readonly menuId = `menu-${++serial}`;
  private readonly outside = (event: Event): void => {
    if (!event.composedPath().includes(this)) this.open = false;
  };

  constructor() {
    super();
    this.label = '';
    this.icon = '';
    this.iconOnly = false;
    this.items = [];
    this.open = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('pointerdown', this.outside);
    document.addEventListener('focusin', this.outside);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('pointerdown', this.outside);
    document.removeEventListener('focusin', this.outside);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`
      <button
        type="button"
        class=${this.iconOnly ? 'icon' : 'secondary'}
        aria-haspopup="menu"
        aria-expanded=${this.open}
        aria-controls=${this.open ? this.menuId : nothing}
        aria-label=${this.iconOnly ? this.label : nothing}
        title=${this.iconOnly ? this.label : nothing}
        @click=${() => void this.toggle(!this.open)}
        @keydown=${this.onButtonKey}
      >
        <span class="codicon codicon-${this.icon}" aria-hidden="true"></span>
        ${
          this.iconOnly
            ? nothing
            : html`<span>${this.label}</span
                ><span class="codicon codicon-chevron-down" aria-hidden="true"></span>`
        }
      </button>
      ${
        this.open
          ? html`<ul role="menu" id=${this.menuId} aria-label=${this.label} @keydown=${this.onMenuKey}>
              ${this.items.map(
                (item) =>
                  html`<li role="none">
                    <button
                      type="button"
                      role="menuitem"
                      tabindex="-1"
                      @click=${() => void this.choose(item)}
                    >
                      <span class="codicon codicon-${item.icon}" aria-hidden="true"></span>${item.label}
                    </button>
                  </li>`,
              )}
            </ul>`
          : nothing
      }
    `;
  }

  private async toggle(open: boolean): Promise<void> {
    this.open = open;
    await this.updateComplete;
    if (open) this.entries[0]?.focus();
    else this.querySelector('button')?.focus();
  }

  private async choose(item: MenuItem): Promise<void> {
    await this.toggle(false);
    item.run();
  }

  private get entries(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>('[role=menuitem]')];
  }

  private readonly onButtonKey = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' || this.open) return;
    event.preventDefault();
    void this.toggle(true);
  };

  private readonly onMenuKey = (event: KeyboardEvent): void => {
    const { entries } = this;
    const at = entries.findIndex((entry) => entry === document.activeElement);
    const moves: Record<string, number> = {
      ArrowDown: (at + 1) % entries.length,
      ArrowUp: (at - 1 + entries.length) % entries.length,
      Home: 0,
      End: entries.length - 1,
    };
    const to = moves[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') void this.toggle(false);
    else if (to === undefined) return;
    else entries[to]?.focus();
    event.preventDefault();
  };
}

define('trainyard-menu', Menu);
