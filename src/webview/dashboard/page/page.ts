// The page as a whole: which parts there are, and what each is given.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { PageAction, SavedChart } from '../../protocol.js';
import '../charts/charts.js';
import '../charts/figures.js';
import type { Controller } from './controller.js';
import '../devices/devices.js';
import { count } from '../model/format.js';
import './header.js';
import '../log/log.js';
import { instead, lostFor, staleness } from '../model/phase.js';
import { define } from '../elements/section.js';
import '../log/timeline.js';
import type { ViewState } from '../model/viewState.js';

export class Page extends LitElement {
  controller: Controller | undefined;
  private readonly act = (action: PageAction): void => {
    this.controller?.act(action);
  };
  private readonly change = (change: Partial<ViewState>): void => {
    this.controller?.change(change);
  };

  private readonly save = ({ detail }: CustomEvent<SavedChart>): void => {
    this.controller?.save(detail);
  };
  private readonly saveFailed = ({ detail }: CustomEvent<string>): void => {
    this.controller?.notSaved(detail);
  };

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { controller } = this;
    if (!controller) return html``;
    switch (controller.state) {
      case 'connecting':
        return html`<main class="message"><p role="status">Connecting to the run…</p></main>`;
      case 'problem':
        return html`<main class="message">
          <h1><span class="codicon codicon-error" aria-hidden="true"></span> This run cannot be shown</h1>
          <p role="alert">${controller.problem}</p>
        </main>`;
      case 'lost':
      case 'over':
      case 'waiting':
      case 'command':
      case 'live':
        return this.run(controller);
    }
  }

  private run(controller: Controller): TemplateResult {
    const { model, shown, view, group, palette, slow } = controller;
    const now = Math.floor(controller.now);
    const lost = controller.state === 'lost';
    const range = group.timeRange.join();
    const empty = instead(shown);
    const { revisions } = shown;
    return html`
      <header>
        <trainyard-header
          .model=${model}
          .revision=${model.revisions.head}
          .now=${now}
          .faded=${lost}
          .act=${this.act}
        ></trainyard-header>
        ${
          lost
            ? html`<p class="banner lost" role="status">
                <span class="codicon codicon-debug-disconnect" aria-hidden="true"></span
                >${lostFor(model, now)}
              </p>`
            : nothing
        }
        ${this.awayStrip(controller)}
      </header>
      <main @chart-save=${this.save} @chart-save-failed=${this.saveFailed}>
        ${
          shown.figures.length > 0
            ? html`<trainyard-figures
                .model=${shown}
                .revision=${`${slow.figures} ${revisions.marks}`}
                .view=${view}
                .palette=${palette}
                .faded=${lost}
                .pausedAt=${this.pausedAt(controller)}
                .change=${this.change}
              ></trainyard-figures>`
            : this.charts(controller, empty)
        }
        ${
          shown.marks.length === 0 && empty !== undefined
            ? nothing
            : html`<trainyard-timeline
                .model=${shown}
                .revision=${revisions.marks}
                .range=${empty === undefined ? range : `0,${Math.max(1, shown.runTime(shown.head?.ended ?? now))}`}
                .faded=${lost}
              ></trainyard-timeline>`
        }
        <trainyard-devices
          .model=${shown}
          .revision=${slow.devices}
          .now=${this.deviceClock(controller, now)}
          .range=${range}
          .palette=${palette}
          .heat=${view.heat}
          .turned=${view.turnedHosts}
          .change=${this.change}
        ></trainyard-devices>
        <trainyard-log
          .model=${shown}
          .revision=${slow.log}
          .source=${view.source}
          .errorsOnly=${view.errorsOnly}
          .filter=${view.filter}
          .change=${this.change}
        ></trainyard-log>
      </main>
    `;
  }

  /** Of charts that stand still; their training goes on. */
  private pausedAt({ shown, view, withheld }: Controller): string | undefined {
    if (!view.paused) return undefined;
    const step = count(shown.steps.step.at(-1) ?? 0);
    return `Charts paused at step ${step}, ${count(Math.max(0, withheld))} new rows`;
  }

  private charts(controller: Controller, empty: string | undefined): TemplateResult {
    const { shown, view, group, state } = controller;
    const { revisions, steps } = shown;
    return html`<trainyard-charts
      .group=${group}
      .revision=${`${revisions.steps === 0} ${steps.step.length > 0} ${revisions.evaluations}`}
      .view=${view}
      .faded=${state === 'lost'}
      .empty=${empty}
      .pausedAt=${this.pausedAt(controller)}
      .change=${this.change}
    ></trainyard-charts>`;
  }

  private awayStrip({ away }: Controller): TemplateResult | typeof nothing {
    if (away === undefined) return nothing;
    return html`<p class="banner away" role="status">
      <span class="codicon codicon-history" aria-hidden="true"></span>
      <span>${away}</span>
      <button
        type="button"
        class="icon"
        aria-label="Close"
        title="Close"
        @click=${() => {
          this.controller?.dismissAway();
        }}
      >
        <span class="codicon codicon-close" aria-hidden="true"></span>
      </button>
    </p>`;
  }

  /** Zero while all figures are current, or none are expected to be. */
  private deviceClock({ shown, view, model }: Controller, now: number): number {
    if (view.paused) return 0;
    const over = model.head?.over ?? false;
    const stale = [...shown.hosts, ...shown.ranks].some(
      ({ time }) => staleness(time.at(-1), now, over) !== undefined,
    );
    return stale ? now : 0;
  }
}

define('trainyard-dashboard', Page);
