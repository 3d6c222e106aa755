// A line of the trainer's flags, with what could stand next below it. Arrow keys choose, Enter
// takes, Escape closes.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { define } from '../dashboard/elements/section.js';
import type { FormSuggestion } from '../formProtocol.js';
import { problemText } from './fields.js';

/** More than fit below one another help nobody. */
const mostShown = 40;

class FlagsBox extends LitElement {
  static override properties = {
    value: { attribute: false },
    problem: { attribute: false },
    suggestions: { attribute: false },
    change: { attribute: false },
    open: { state: true },
    active: { state: true },
  };
  declare value: string;
  declare problem: string | undefined;
  declare suggestions: readonly FormSuggestion[];
  declare change: (value: string) => void;
  declare open: boolean;
  declare active: number;

  constructor() {
    super();
    this.value = '';
    this.suggestions = [];
    this.open = false;
    this.active = -1;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('suggestions')) this.active = -1;
  }

  protected override updated(): void {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  protected override render(): TemplateResult {
    const shown = this.shown();
    const isOpen = this.open && shown.length > 0;
    return html`<div class="field">
      <label for="flags">Further flags</label>
      <input
        type="text"
        id="flags"
        class="code"
        role="combobox"
        spellcheck="false"
        autocomplete="off"
        placeholder="--seed 1 --warmup-epochs 5"
        aria-autocomplete="list"
        aria-expanded=${isOpen ? 'true' : 'false'}
        aria-controls="flags-list"
        aria-activedescendant=${isOpen && this.active >= 0 ? `flag-${this.active}` : nothing}
        aria-invalid=${this.problem === undefined ? 'false' : 'true'}
        aria-describedby=${this.problem === undefined ? 'flags-help' : 'flags-problem flags-help'}
        .value=${live(this.value)}
        @input=${this.onInput}
        @focus=${() => {
          this.open = true;
        }}
        @blur=${() => {
          this.open = false;
        }}
        @keydown=${this.onKey}
      />
      <div id="flags-list" class="popup" role="listbox" aria-label="Flags of the trainer" ?hidden=${!isOpen}>
        ${isOpen ? shown.map((suggestion, index) => this.option(suggestion, index)) : nothing}
      </div>
      ${problemText('flags', this.problem)}
      <small id="flags-help">Any flag of the trainer. Down and Enter take what is offered.</small>
    </div>`;
  }

  private shown(): readonly FormSuggestion[] {
    return this.suggestions.slice(0, mostShown);
  }

  private option({ word, value, help }: FormSuggestion, index: number): TemplateResult {
    return html`<div
      role="option"
      id="flag-${index}"
      aria-selected=${index === this.active ? 'true' : 'false'}
      @mousedown=${(event: Event) => {
        event.preventDefault(); // the field keeps the focus
        this.take(word);
      }}
    >
      <p><b class="code">${word}</b><span>${value}</span></p>
      <p>${help}</p>
    </div>`;
  }

  private take(word: string): void {
    const words = this.value.split(/\s+/).slice(0, -1);
    this.open = true;
    this.change(`${[...words, word].join(' ')} `);
  }

  private readonly onInput = (event: Event): void => {
    this.open = true;
    this.change((event.target as HTMLInputElement).value);
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const shown = this.shown();
    if (shown.length === 0) return;
    const chosen = shown[this.active];
    if (event.key === 'Escape' && this.open) this.open = false;
    else if (event.key === 'Enter' && this.open && chosen) this.take(chosen.word);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const from = this.active < 0 && step < 0 ? 0 : this.active;
      this.active = this.open ? (from + step + shown.length) % shown.length : -1;
      this.open = true;
    } else return;
    event.preventDefault();
  };
}

define('trainyard-flags', FlagsBox);
