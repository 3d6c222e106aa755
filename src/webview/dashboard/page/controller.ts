// Between the extension's messages and what is drawn: the model, the view's settings, and when to
// draw.
import type { PageAction, SavedChart, ToPage } from '../../protocol.js';
import { absence } from '../model/absence.js';
import { ChartData } from '../charts/chartData.js';
import { ChartGroup } from '../charts/chartGroup.js';
import { Frames } from '../elements/frames.js';
import type { Host } from './host.js';
import { PageModel } from '../model/model.js';
import { pageState, type PageState } from '../model/phase.js';
import type { Palette } from '../elements/colors.js';
import { onThemeChange, readPalette } from '../elements/theme.js';
import type { ViewState } from '../model/viewState.js';

/** How often the page's text is drawn again while updates arrive, milliseconds. */
const textInterval = 100;
/** How often devices, figures and log are, which are more work. */
const slowInterval = 250;
/** How often it is noted that somebody looks, seconds. */
const seenInterval = 5;

export class Controller {
  readonly model = new PageModel();
  /** What is drawn: the model, or the copy of it that was made when the reader paused. */
  shown = this.model;
  readonly group: ChartGroup;
  view: ViewState;
  palette: Palette = readPalette();
  problem: string | undefined;
  away: string | undefined;
  /** Of devices, figures and log as they are drawn: the model's revisions, less often. */
  slow = { devices: 0, figures: 0, log: 0 };
  /** The extension's clock less ours, seconds. */
  private offset = 0;
  private stepsDrawn = '';
  private textAt = -Infinity;
  private slowAt = -Infinity;
  private readonly data: ChartData;
  private readonly frames = new Frames((now) => {
    this.draw(now);
  });

  constructor(
    private readonly host: Host,
    private readonly root: HTMLElement,
    private readonly render: () => void,
  ) {
    this.view = host.readView();
    this.data = new ChartData(this.model, this.view.smoothing, this.view.axis);
    this.group = new ChartGroup(
      this.data,
      this.model,
      this.palette,
      (zoom) => {
        this.change({ zoom });
      },
      () => {
        this.frames.request();
      },
    );
    this.takeView();
  }

  /** For as long as the page lives, which ends with its window. */
  start(): void {
    window.addEventListener('message', ({ data }: MessageEvent<ToPage | null>) => {
      this.receive(data);
    });
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.host.post({ type: 'ready' });
      else this.seen();
    });
    onThemeChange(() => {
      this.palette = this.group.palette = readPalette();
      this.group.redraw();
      this.refresh();
    });
    setInterval(() => {
      this.tick();
    }, 1000);
    this.refresh();
    this.host.post({ type: 'ready' });
  }

  get now(): number {
    return Date.now() / 1000 + this.offset;
  }

  get state(): PageState {
    return pageState(this.model, this.problem);
  }

  /** Rows that came while the view was paused. */
  get withheld(): number {
    return this.model.steps.step.length - this.shown.steps.step.length;
  }

  act(action: PageAction): void {
    this.host.post({ type: 'action', action });
  }

  save(chart: SavedChart): void {
    this.host.post({ type: 'save', ...chart });
  }

  /** `reason`: why a chart cannot be saved. */
  notSaved(reason: string): void {
    this.host.post({ type: 'notSaved', message: `The chart was not saved: ${reason}` });
  }

  change(change: Partial<ViewState>): void {
    this.view = { ...this.view, ...change };
    if (change.paused !== undefined) this.pause(change.paused);
    this.takeView();
    this.host.keepView(this.view);
    this.refresh();
  }

  dismissAway(): void {
    this.away = undefined;
    this.refresh();
  }

  private receive(message: ToPage | null): void {
    if (message === null || typeof message !== 'object') return;
    if (message.type === 'problem') {
      this.problem = message.message;
      this.refresh();
      return;
    }
    // The window gets messages of others too: extensions of the browser, frames.
    if ((message as { type: unknown }).type !== 'update') return;
    const first = this.model.sequence < 0;
    const wasOver = this.model.head?.over === true;
    const outcome = this.model.apply(message);
    if (outcome === 'gap') this.host.post({ type: 'ready' });
    if (outcome !== 'applied') return;
    this.problem = undefined;
    this.offset = message.now - Date.now() / 1000;
    if (wasOver && this.model.head?.over === false) this.away = undefined; // somebody resumed it
    if (message.full) this.compareWithLastTime(first);
    this.frames.request();
  }

  /** After a load, or when the page came back into sight. */
  private compareWithLastTime(first: boolean): void {
    const id = this.model.head?.id;
    if (this.view.runId !== id) {
      this.view = {
        ...this.view,
        runId: id,
        lastSeen: undefined,
        zoom: undefined,
        paused: first && this.view.paused,
      };
      this.takeView();
    }
    this.away = absence(this.model, this.view.lastSeen) ?? this.away;
    if (first && this.view.paused) this.pause(true);
    this.seen();
  }

  private pause(paused: boolean): void {
    this.shown = paused ? this.model.frozen() : this.model;
  }

  private takeView(): void {
    this.group.zoom = this.view.zoom;
    this.group.smoothing = this.view.smoothing;
    this.group.logLoss = this.view.logLoss;
    this.group.allValues = this.view.allValues;
  }

  private tick(): void {
    if (document.visibilityState !== 'visible' || !this.model.head) return;
    if (this.now - (this.view.lastSeen ?? 0) > seenInterval) this.seen();
    if (!this.model.head.over) this.refresh();
  }

  private seen(): void {
    if (!this.model.head) return;
    this.view.lastSeen = this.now;
    this.host.keepView(this.view);
  }

  /** Everything that is text, at once: somebody waits for it. */
  private refresh(): void {
    this.textAt = this.slowAt = -Infinity;
    this.frames.request();
  }

  private draw(now: number): void {
    this.takeSteps();
    const waits = [this.group.draw(now)];
    const textDue = this.textAt + textInterval - now;
    if (textDue <= 0) {
      this.textAt = now;
      waits.push(this.takeSlow(now));
      this.render();
    } else if (this.root.dataset['sequence'] !== String(this.model.sequence)) waits.push(textDue);
    this.tell(textDue <= 0);
    const next = waits.filter((wait) => wait !== undefined);
    if (next.length > 0) this.frames.request(Math.min(...next));
  }

  private takeSteps(): void {
    const { shown, view } = this;
    const { steps, evaluations, marks } = shown.revisions;
    const wanted = [shown === this.model, steps, evaluations, marks, view.smoothing, view.axis].join();
    if (wanted === this.stepsDrawn) return;
    this.stepsDrawn = wanted;
    this.group.model = shown;
    this.data.update(shown, view.smoothing, view.axis);
    this.group.invalidate();
  }

  private takeSlow(now: number): number | undefined {
    const { devices, figures, log } = this.shown.revisions;
    const { slow } = this;
    if (devices === slow.devices && figures === slow.figures && log === slow.log) return undefined;
    const due = this.slowAt + slowInterval - now;
    if (due > 0) return due;
    this.slowAt = now;
    this.slow = { devices, figures, log };
    return undefined;
  }

  /** What is on the screen with this frame, for tests and measurements. */
  private tell(textDrawn: boolean): void {
    const step = this.group.drawnStep ?? (textDrawn ? this.shown.steps.step.at(-1) : undefined);
    if (step !== undefined && step >= 0) this.root.dataset['step'] = String(step);
    if (!textDrawn) return;
    this.root.dataset['sequence'] = String(this.model.sequence);
    this.root.dataset['state'] = this.state;
  }
}
