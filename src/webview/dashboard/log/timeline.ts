// What happened, along the same time axis as the charts.
import { html, nothing, type TemplateResult } from 'lit';
import type { Mark, MarkKind } from '../../protocol.js';
import { clusterMarks, type MarkCluster } from '../model/clusters.js';
import { count, elapsed, plural } from '../model/format.js';
import type { PageModel } from '../model/model.js';
import { yet } from '../model/phase.js';
import { define, Section } from '../elements/section.js';

const icons: Record<MarkKind, string> = {
  start: 'play',
  restart: 'debug-restart',
  resume: 'debug-continue',
  checkpoint: 'save',
  'checkpoint-failed': 'warning',
  'rank-lost': 'error',
  hang: 'watch',
  stop: 'debug-stop',
  disk: 'database',
  end: 'flag',
};

const nouns: Record<MarkKind, (number: number) => string> = {
  start: () => '',
  restart: (number) => plural(number, 'restart'),
  resume: (number) => plural(number, 'resume'),
  checkpoint: (number) => plural(number, 'checkpoint'),
  'checkpoint-failed': (number) => `${plural(number, 'checkpoint')} failed`,
  'rank-lost': (number) => `${plural(number, 'rank')} lost`,
  hang: (number) => plural(number, 'hang'),
  stop: (number) => plural(number, 'stop request'),
  disk: (number) =>
    plural(number, 'warning of a full disk').replace('warning of a full disks', 'warnings of a full disk'),
  end: () => '',
};

/** Icons nearer than this would lie on one another, pixels. */
const iconWidth = 20;

class Timeline extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    range: { attribute: false },
    faded: { attribute: false },
    width: { state: true },
    told: { state: true },
    stop: { state: true },
  };
  declare model: PageModel;
  declare revision: number;
  /** Of the charts, seconds of run time, as `low,high` so that equal ranges are equal. */
  declare range: string;
  declare faded: boolean;
  declare width: number;
  declare told: string | undefined;
  /** Which mark the tab key reaches; arrows go on from there. */
  declare stop: number;
  private resizes: ResizeObserver | undefined;

  constructor() {
    super();
    this.width = 800;
    this.stop = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resizes = new ResizeObserver(([entry]) => {
      if (entry) this.width = Math.max(100, entry.contentRect.width - iconWidth);
    });
    this.resizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes?.disconnect();
  }

  protected override render(): TemplateResult {
    const { model } = this;
    const [low = 0, high = 1] = this.range.split(',').map(Number);
    // Marks lie before the first step and after the last, where no chart has a point.
    const room = (high - low) * 0.001 + 1;
    const clusters = clusterMarks(
      model.marks,
      (time) => model.runTime(time),
      [low - room, high + room],
      iconWidth / this.width,
    );
    if (model.marks.length === 0) {
      return html`<h2>Timeline</h2>
        <p class="quiet">No events${yet(model)}.</p>`;
    }
    const at = Math.min(this.stop, clusters.length - 1);
    return html`
      <h2>Timeline</h2>
      <div
        class=${this.faded ? 'strip faded' : 'strip'}
        role="group"
        aria-label="Timeline: ${this.counts()}"
        @keydown=${this.onKey}
        @mouseleave=${() => {
          this.told = undefined;
        }}
        @focusout=${() => {
          this.told = undefined;
        }}
      >
        ${clusters.map((cluster, index) => this.mark(cluster, index, at))}
      </div>
      <p class="told" aria-live="off">${this.told ?? this.counts()}</p>
    `;
  }

  private mark({ position, kind, marks }: MarkCluster, index: number, at: number): TemplateResult {
    const text = this.words(marks);
    return html`<button
      type="button"
      class="mark mark-${kind}"
      style="left: ${(position * 100).toFixed(2)}%"
      data-count=${marks.length > 1 ? Math.min(99, marks.length) : nothing}
      tabindex=${index === at ? 0 : -1}
      aria-label=${text}
      @mouseenter=${() => {
        this.told = text;
      }}
      @focus=${() => {
        this.told = text;
        this.stop = index;
      }}
    >
      <span class="codicon codicon-${icons[kind]}" aria-hidden="true"></span>
    </button>`;
  }

  private words(marks: Mark[]): string {
    const one = (mark: Mark): string =>
      `${elapsed(this.model.runTime(mark.time))}${mark.step === null ? '' : ` · step ${count(mark.step)}`} · ${mark.text}`;
    const [first, ...others] = marks.filter(({ kind }) => kind !== 'checkpoint');
    const last = marks.at(-1);
    if (!last) return '';
    if (marks.length === 1) return one(last);
    if (!first) return `${plural(marks.length, 'checkpoint')}, the last: ${one(last)}`;
    const rest = marks.length - 1 - others.length;
    return [
      one(first),
      ...others.slice(0, 2).map(one),
      ...(rest > 0 ? [plural(rest, 'checkpoint')] : []),
    ].join(' — ');
  }

  private counts(): string {
    const numbers = new Map<MarkKind, number>();
    for (const { kind } of this.model.marks) numbers.set(kind, (numbers.get(kind) ?? 0) + 1);
    const told = [...numbers].map(([kind, number]) => nouns[kind](number)).filter((text) => text !== '');
    const ended = this.model.marks.find(({ kind }) => kind === 'end');
    const nothingElse = ended ? 'started' : 'started, nothing else yet';
    return [...(told.length > 0 ? told : [nothingElse]), ...(ended ? [ended.text] : [])].join(', ');
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const marks = [...this.querySelectorAll<HTMLElement>('.mark')];
    const at = marks.findIndex((mark) => mark === document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    marks[Math.max(0, Math.min(marks.length - 1, to))]?.focus();
  };
}

define('trainyard-timeline', Timeline);
