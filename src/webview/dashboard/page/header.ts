// What the run is, how it stands, how far it is, and what can be done with it.
import { html, nothing, type TemplateResult } from 'lit';
import type { PageAction, Progress, RunHead, StatusWord } from '../../protocol.js';
import { count, duration, missing, percent, rate } from '../model/format.js';
import '../elements/menu.js';
import type { MenuItem } from '../elements/menu.js';
import type { PageModel } from '../model/model.js';
import { define, Section } from '../elements/section.js';

const icons: Record<StatusWord, string> = {
  queued: 'watch',
  starting: 'circle-outline',
  running: 'circle-filled',
  stopping: 'debug-stop',
  evaluating: 'beaker',
  finished: 'pass-filled',
  stopped: 'circle-slash',
  failed: 'error',
  interrupted: 'debug-disconnect',
  unknown: 'question',
};

const healthIcons: Record<RunHead['health']['level'], string> = {
  good: 'heart',
  note: 'info',
  warning: 'warning',
  error: 'error',
};

/** Name, value, what is beside it, and what it means. */
type Fact = [name: string, value: string, more?: string | undefined, title?: string | undefined];

const medianTitle =
  'The median is that of all lines of the run, its warming up left out. A comparison has the mean';

class Header extends Section {
  static override properties = {
    model: { attribute: false },
    revision: { attribute: false },
    now: { attribute: false },
    faded: { attribute: false },
    act: { attribute: false },
  };
  declare model: PageModel;
  declare revision: number;
  /** Whole seconds, so that it changes only when what is shown may. */
  declare now: number;
  declare faded: boolean;
  declare act: (action: PageAction) => void;

  protected override render(): TemplateResult {
    const { head, progress } = this.model;
    if (!head || !progress) return html``;
    const sharp = head.over || !this.faded;
    return html`
      <div class="title">
        <h1 title="${head.id} in ${head.dir}">${head.name}</h1>
        ${tags(head)}
        <p class="status status-${head.health.level === 'warning' ? 'stopping' : head.status}">
          <span class="codicon codicon-${icons[head.status]}" aria-hidden="true"></span>
          <span
            >${sharp ? nothing : 'last known: '}<strong>${head.status}</strong> ${head.over ? 'ran on' : 'on'}
            ${head.where}</span
          >
        </p>
        <div class="actions">
          ${
            head.over
              ? this.resumeButton(head)
              : html`<trainyard-menu
                  .label=${'Stop'}
                  .icon=${'debug-stop'}
                  .items=${this.stopItems}
                ></trainyard-menu>`
          }
          <button
            type="button"
            class="secondary"
            @click=${() => {
              this.act('openTensorBoard');
            }}
          >
            <span class="codicon codicon-graph-line" aria-hidden="true"></span><span>TensorBoard</span>
          </button>
          <trainyard-menu
            .label=${'More actions'}
            .icon=${'ellipsis'}
            .iconOnly=${true}
            .items=${head.program === 'trainer' ? this.trainerItems : this.moreItems}
          ></trainyard-menu>
        </div>
      </div>
      ${head.reason === null ? nothing : html`<p class="reason reason-${head.status}">${head.reason}</p>`}
      ${head.reason === null || head.status === 'finished' ? this.health(head) : nothing}
      <div class=${sharp && !head.health.hasOldFigures ? 'standing' : 'standing faded'}>
        ${this.bar(head, progress)} ${this.facts(head, progress)}
      </div>
      ${head.notes === '' ? nothing : html`<p class="notes">${head.notes}</p>`}
      <p class="about">${about(head)}</p>
      ${this.origin(head)}
    `;
  }

  /** Where its weights came from, with links. */
  private origin({ from, resumedFrom }: RunHead): TemplateResult | typeof nothing {
    const parts: TemplateResult[] = [];
    const link = (text: string, action: PageAction): TemplateResult =>
      html`<button
        type="button"
        class="link"
        @click=${() => {
          this.act(action);
        }}
      >
        ${text}
      </button>`;
    if (from) parts.push(html`from ${link(`${from.name} step ${count(from.step)}`, 'openOrigin')}`);
    if (resumedFrom !== null) {
      parts.push(html`resumed from ${link(`step ${count(resumedFrom)}`, 'showCheckpoints')}`);
    }
    return parts.length === 0
      ? nothing
      : html`<p class="origin">${parts.map((part, at) => (at === 0 ? part : html` · ${part}`))}</p>`;
  }

  /** How the run is. */
  private health({ health, status }: RunHead): TemplateResult | typeof nothing {
    if (health.text === '' || health.text === status) return nothing;
    return html`<p class="health health-${health.level}" role="status">
      <span class="codicon codicon-${healthIcons[health.level]}" aria-hidden="true"></span>
      <span>${health.text}</span>
    </p>`;
  }

  /** Of a run that ended early. A program of the user's is started again in its folder. */
  private resumeButton(head: RunHead): TemplateResult | typeof nothing {
    if (head.status === 'finished' || head.program === null) return nothing;
    const step = this.model.checkpoints?.latestStep ?? null;
    return html`<button
      type="button"
      class="secondary"
      @click=${() => {
        this.act('resumeRun');
      }}
    >
      <span class="codicon codicon-debug-restart" aria-hidden="true"></span
      ><span>${step === null ? 'Resume' : `Resume from step ${count(step)}`}</span>
    </button>`;
  }

  private readonly stopItems = [
    {
      label: 'After a checkpoint',
      icon: 'save',
      run: () => {
        this.act('stopAfterCheckpoint');
      },
    },
    {
      label: 'Now',
      icon: 'debug-stop',
      run: () => {
        this.act('stopNow');
      },
    },
  ];

  private readonly moreItems: MenuItem[] = [
    {
      label: 'Open log file',
      icon: 'output',
      run: () => {
        this.act('openLogs');
      },
    },
    {
      label: 'Open run folder',
      icon: 'folder-opened',
      run: () => {
        this.act('revealFolder');
      },
    },
    {
      label: 'Open terminal there',
      icon: 'terminal',
      run: () => {
        this.act('openTerminal');
      },
    },
    {
      label: 'Name, tags and notes…',
      icon: 'tag',
      run: () => {
        this.act('describeRun');
      },
    },
    {
      label: 'Run again with changes…',
      icon: 'repo-clone',
      run: () => {
        this.act('cloneRun');
      },
    },
  ];

  /** Of a training by our trainer, whose checkpoints are known. */
  private readonly trainerItems: MenuItem[] = [
    ...this.moreItems,
    {
      label: 'New run from a checkpoint…',
      icon: 'git-branch',
      run: () => {
        this.act('runFromCheckpoint');
      },
    },
    {
      label: 'Evaluate a checkpoint…',
      icon: 'beaker',
      run: () => {
        this.act('evaluateCheckpoint');
      },
    },
    {
      label: 'Download a checkpoint…',
      icon: 'cloud-download',
      run: () => {
        this.act('downloadCheckpoint');
      },
    },
  ];

  private bar(head: RunHead, progress: Progress): TemplateResult | typeof nothing {
    const { fraction, step, totalSteps, epoch, totalEpochs } = progress;
    if (step === null && fraction === null) return nothing;
    const of = (value: number | null, total: number | null): string =>
      `${value === null ? missing : count(value)}${total === null ? '' : `/${count(total)}`}`;
    const words = [
      ...(epoch === null ? [] : [`epoch ${of(epoch, totalEpochs)}`]),
      ...(step === null ? [] : [`step ${of(step, totalSteps)}`]),
    ].join(' · ');
    const share = fraction === null ? undefined : Math.min(1, Math.max(0, fraction));
    if (share === undefined) {
      return html`<div class="bar">
        <p><span>${words}</span></p>
      </div>`;
    }
    const whole = Math.floor(share * 100);
    return html`<div class="bar">
      <div
        role="progressbar"
        aria-label="Progress of ${head.name}"
        aria-valuemin="0"
        aria-valuemax="100"
        aria-valuenow=${whole}
        aria-valuetext="${whole}%, ${words}"
        class="track status-${head.status}"
      >
        <div class="fill" style="width: ${share * 100}%"></div>
      </div>
      <p><strong>${whole}%</strong> <span>${words}</span></p>
    </div>`;
  }

  private facts(head: RunHead, progress: Progress): TemplateResult | typeof nothing {
    const { checkpoints } = this.model;
    const facts: Fact[] = [];
    const ran = tookUntil(head, this.now);
    if (head.over) facts.push(['took', duration(ran)]);
    else if (progress.secondsLeft !== null) {
      facts.push(['left', duration(progress.secondsLeft), `${duration(ran)} so far`]);
    } else if (ran !== null) facts.push(['so far', duration(ran)]);
    const median = progress.medianImagesPerSec;
    const sum = progress.rateWriters > 1 ? [`sum of ${progress.rateWriters} writers`] : [];
    if (head.over && median !== null) {
      facts.push(['images/s', rate(median), ['median', ...sum].join(', '), medianTitle]);
    } else if (progress.imagesPerSec !== null) {
      const notes = [...(median === null ? [] : [`median ${rate(median)}`]), ...sum];
      facts.push([
        'images/s',
        rate(progress.imagesPerSec),
        notes.length === 0 ? undefined : notes.join(', '),
        median === null ? undefined : medianTitle,
      ]);
    }
    if (progress.bestTop1 !== null) {
      facts.push([
        'best top-1',
        percent(progress.bestTop1),
        `step ${progress.bestStep === null ? missing : count(progress.bestStep)}`,
      ]);
    } else if (progress.trainingTop1 !== null) {
      facts.push(['top-1', percent(progress.trainingTop1), 'of training images']);
    }
    if (checkpoints && checkpoints.count > 0) {
      const age = checkpoints.latestTime === null ? null : this.now - checkpoints.latestTime;
      const last = `last at step ${checkpoints.latestStep === null ? missing : count(checkpoints.latestStep)}`;
      facts.push([
        'checkpoints written',
        count(checkpoints.count),
        head.over || age === null ? last : `${last}, ${duration(age)} ago`,
      ]);
    }
    if (head.restartsInAll > 0) facts.push(restarts(head));
    if (progress.cost !== null) {
      const { soFar, atEnd, perEpoch, spent } = progress.cost;
      const more = [
        ...(atEnd === null ? [] : [`about ${atEnd} in all`]),
        ...(perEpoch === null ? [] : [`${perEpoch} an epoch`]),
        ...(spent === '' ? [] : [spent]),
      ];
      const name = head.over ? 'cost' : 'cost so far';
      facts.push(more.length === 0 ? [name, soFar] : [name, soFar, more.join(', ')]);
    }
    if (progress.gpuHours !== null) facts.push(['GPU hours', progress.gpuHours]);
    if (facts.length === 0) return nothing;
    return html`<dl class="facts">
      ${facts.map(
        ([name, value, more, title]) =>
          html`<div title=${title ?? nothing}>
            <dt>${name}</dt>
            <dd><strong>${value}</strong>${more === undefined ? nothing : html` <small>${more}</small>`}</dd>
          </div>`,
      )}
    </dl>`;
  }
}

/** Its supervisor's own; a resume gives it all of them again. */
function restarts({ restarts: now, restartsInAll: all, maxRestarts }: RunHead): [string, string, string] {
  const most = maxRestarts === null ? [] : [`of ${count(maxRestarts)}`];
  const before = all > now ? [`${count(all)} in all, with those before the resume`] : [];
  return ['restarts', count(now), [...most, ...before].join(', ')];
}

/** Seconds of all its starts. */
function tookUntil({ took }: RunHead, now: number): number | null {
  if (took === null) return null;
  return took.seconds + (took.until === null ? 0 : Math.max(0, now - took.until));
}

/** The words to find the run by. */
function tags(head: RunHead): TemplateResult | typeof nothing {
  if (head.tags.length === 0) return nothing;
  return html`<ul class="tags" aria-label="Tags">
    ${head.tags.map((tag) => html`<li>${tag}</li>`)}
  </ul>`;
}

const deviceText = (device: string, why: string | null): string =>
  why === null ? device : `${device} (${why})`;

function about(head: RunHead): TemplateResult {
  const parameters = head.parameters === null ? '' : ` (${(head.parameters / 1e6).toFixed(1)} M parameters)`;
  const parts = [
    ...(head.model === null ? [] : [`${head.model}${parameters}`]),
    ...(head.device === null ? [] : [deviceText(head.device, head.deviceWhy)]),
    ...(head.precision === null ? [] : [head.precision]),
    ...(head.globalBatch === null ? [] : [`batch ${count(head.globalBatch)}`]),
    `profile ${head.profile}`,
  ];
  return html`<span>${parts.join(' · ')}</span> <code title=${head.command}>${head.command}</code>`;
}

define('trainyard-header', Header);
