// The run's latest lines; follows the end until the reader scrolls up.
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { LogLine } from '../../protocol.js';
import { clock, plural } from '../model/format.js';
import { byTime, shownLines, sourcesOf } from './logLines.js';
import type { PageModel } from '../model/model.js';
import { yet } from '../model/phase.js';
import { define, Section } from '../elements/section.js';
import type { ViewState } from '../model/viewState.js';

class Log extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    source: { attribute: false },
    errorsOnly: { attribute: false },
    filter: { attribute: false },
    change: { attribute: false },
    until: { state: true },
  };
  declare model: PageModel;
  declare revision: number;
  declare source: string;
  declare errorsOnly: boolean;
  declare filter: string;
  declare change: (change: Partial<ViewState>) => void;
  /** The newest line there was when the reader scrolled up; Infinity while following. */
  declare until: number;

  private resizes: ResizeObserver | undefined;
  /** Where the box was scrolled to, to tell the reader's scrolling from the layout's. */
  private top = 0;
  /** The lines by time, of the model at a revision of its log. */
  private ordered: { model: PageModel; revision: number; lines: readonly LogLine[] } | undefined;

  constructor() {
    super();
    this.until = Infinity;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resizes = new ResizeObserver(() => {
      this.requestUpdate();
    });
    this.resizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes?.disconnect();
  }

  protected override render(): TemplateResult {
    const { source, errorsOnly, filter, until } = this;
    const lines = this.model.log;
    const shown = shownLines(this.inOrder(), { source, errorsOnly, text: filter, until });
    const sources = sourcesOf(lines);
    if (source !== '' && !sources.includes(source)) sources.push(source);
    const newer =
      until === Infinity ? 0 : lines.length - 1 - lines.findLastIndex(({ serial }) => serial <= until);
    return html`
      <div class="sectionhead">
        <h2>Log</h2>
        <div class="controls">
          <select aria-label="Source" @change=${this.onSource}>
            <option value="" ?selected=${source === ''}>all sources</option>
            ${sources.map((name) => html`<option value=${name} ?selected=${name === source}>${name}</option>`)}
          </select>
          <button
            type="button"
            class="toggle"
            aria-pressed=${errorsOnly}
            @click=${() => {
              this.change({ errorsOnly: !errorsOnly });
            }}
          >
            <span class="codicon codicon-error" aria-hidden="true"></span>Errors only
          </button>
          <input
            type="text"
            placeholder="Filter…"
            aria-label="Filter the log"
            .value=${filter}
            @input=${this.onFilter}
          />
        </div>
      </div>
      <div class="logbox">
        <div
          class="lines"
          role="log"
          aria-live="off"
          aria-label="Log lines"
          tabindex="0"
          @scroll=${this.onScroll}
        >
          ${
            shown.length === 0
              ? html`<p class="quiet">
                  ${lines.length > 0 ? 'No line matches.' : `No lines${yet(this.model)}.`}
                </p>`
              : repeat(shown, ({ serial }) => serial, logLine)
          }
        </div>
        ${
          until === Infinity
            ? nothing
            : html`<button
                type="button"
                class="toend secondary"
                @click=${() => {
                  this.until = Infinity;
                }}
              >
                <span class="codicon codicon-chevron-down" aria-hidden="true"></span>
                ${newer > 0 ? plural(newer, 'new line') : 'To the end'}
              </button>`
        }
      </div>
    `;
  }

  protected override updated(): void {
    if (this.until !== Infinity) return;
    const box = this.querySelector('.lines');
    if (!box) return;
    box.scrollTop = box.scrollHeight;
    this.top = box.scrollTop;
  }

  private inOrder(): readonly LogLine[] {
    const { model } = this;
    const revision = model.revisions.log;
    if (this.ordered?.model !== model || this.ordered.revision !== revision) {
      this.ordered = { model, revision, lines: byTime(model.log) };
    }
    return this.ordered.lines;
  }

  private readonly onScroll = (event: Event): void => {
    const box = event.currentTarget as HTMLElement;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
    if (atEnd && this.until !== Infinity) {
      const newest = this.model.log.at(-1)?.serial ?? -1;
      if (newest <= this.until) this.until = Infinity;
    } else if (!atEnd && box.scrollTop < this.top && this.until === Infinity) {
      this.until = this.model.log.at(-1)?.serial ?? -1;
    }
    this.top = box.scrollTop;
  };

  private readonly onSource = (event: Event): void => {
    this.until = Infinity;
    this.change({ source: (event.target as HTMLSelectElement).value });
  };

  private readonly onFilter = (event: Event): void => {
    this.until = Infinity;
    this.change({ filter: (event.target as HTMLInputElement).value });
  };
}

const logLine = ({ time, source, level, text }: LogLine): TemplateResult =>
  html`<div class="line ${level}">
    <time>${time === null ? '' : clock(time)}</time><span class="source">${source}</span
    ><span class="text">${level === 'info' ? nothing : html`<b>${level}: </b>`}${text}</span>
  </div>`;

define('trainyard-log', Log);
