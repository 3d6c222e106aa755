// The run form as a page: what is asked, section by section, and beside it what it comes to.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { define } from '../dashboard/elements/section.js';
import type { FormOption, FormValues, FormView, FromForm, ToForm } from '../formProtocol.js';
import { choiceField, field, radios, textField, textInput } from './fields.js';
import './flagsBox.js';
import './folderBox.js';
import { origin } from './origin.js';
import { sources } from './sources.js';
import { summary } from './summary.js';
import { validation } from './validation.js';
import { aboutSlots, where, type FormChange } from './where.js';

const usualHelp = 'Checkpoints are evaluated on them while training; left out: they are not.';
export class FormPage extends LitElement {
  static override properties = { values: { state: true }, view: { state: true } };
  declare values: FormValues | undefined;
  declare view: FormView | undefined;
  post: (message: FromForm) => void = () => undefined;
  private sequence = 0;
  /** A start was asked for, so what is wrong gets the focus. */
  private wantsFocus = false;

  receive(message: ToForm): void {
    if (message.type === 'values') this.values = message.values;
    // What is about values that were typed over since would flicker.
    else if (message.sequence >= this.sequence) this.view = message.view;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override updated(): void {
    const wrong = this.wantsFocus ? this.querySelector<HTMLElement>('[aria-invalid=true]') : null;
    if (!wrong) return;
    this.wantsFocus = false;
    wrong.focus({ preventScroll: true });
    (wrong.closest('.field') ?? wrong).scrollIntoView({ block: 'center' });
  }

  protected override render(): TemplateResult {
    const { values, view } = this;
    if (!values || !view) return html`<main><p role="status">Looking at the profiles…</p></main>`;
    return html`<main
      class="form"
      data-sequence=${this.sequence}
      @keydown=${(event: KeyboardEvent) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        this.send({ type: 'start' });
      }}
    >
      <header>
        <h1>New run</h1>
        ${sources(view, this.post)}
      </header>
      <div>
        ${this.what(values, view)} ${values.what === 'train' ? this.data(values, view) : nothing}
        ${where(values, view, this.change, this.post)}
        ${values.what === 'train' ? this.options(values, view) : nothing} ${this.about(values, view)}
      </div>
      ${summary(view, this.send)}
    </main>`;
  }

  private readonly send = (message: FromForm): void => {
    this.wantsFocus = message.type === 'start';
    this.post(message);
  };

  private readonly change = (change: FormChange): void => {
    if (!this.values) return;
    this.wantsFocus = false; // somebody types
    this.values = { ...this.values, ...change };
    this.sequence++;
    this.post({ type: 'change', sequence: this.sequence, values: this.values });
  };

  /** What a field of one text says when it changes. */
  private readonly set =
    (name: keyof FormValues) =>
    (value: string): void => {
      this.change({ [name]: value });
    };

  private what(values: FormValues, view: FormView): TemplateResult {
    const { problems } = view;
    const kinds = [
      ['train', "Trainyard's trainer"],
      ['program', 'A program of your own'],
    ] as const;
    return html`<fieldset>
      <legend>What</legend>
      ${radios('what', 'What runs', values.what, kinds, (what) => {
        this.change({ what });
      })}
      ${
        values.what === 'train'
          ? choiceField({
              id: 'model',
              label: 'Model',
              value: values.model,
              choices: view.models,
              problem: problems['model'],
              wide: true,
              change: this.set('model'),
            })
          : this.program(values, view)
      }
      ${values.what === 'train' && view.origin !== '' ? origin(view, this.change) : nothing}
    </fieldset>`;
  }

  private program(values: FormValues, view: FormView): TemplateResult {
    const { problems, isHere } = view;
    const folder = {
      id: 'folder',
      label: isHere ? 'Folder it starts in' : 'Folder that goes along',
      help: isHere
        ? 'Left out: the workspace.'
        : 'Of this machine. The program starts in its copy on the nodes; left out: nothing goes along.',
      value: values.folder,
      problem: problems['folder'],
      wide: true,
      change: this.set('folder'),
    };
    const spreads = [
      ['one', 'One process', 'On the first node'],
      ['slot', 'One for each slot', aboutSlots],
      ['node', 'One for each node', 'As torchrun wants it, which starts a process for each GPU itself'],
    ] as const;
    return html`${textField({
      id: 'command',
      label: 'Command',
      placeholder: 'python3 train.py --epochs 10',
      value: values.command,
      problem: problems['command'],
      code: true,
      lines: 2,
      wide: true,
      change: this.set('command'),
    })}
    ${radios('spread', 'How often it starts', values.spread, spreads, (spread) => {
      this.change({ spread });
    })}
    ${field(
      folder,
      html`<div class="row">
        ${textInput(folder)}
        <button
          type="button"
          class="secondary"
          @click=${() => {
            this.post({ type: 'chooseFolder' });
          }}
        >
          Choose…
        </button>
      </div>`,
    )}
    ${textField({
      id: 'requirements',
      label: 'Python packages',
      placeholder: 'requirements.txt',
      help: 'A requirements file, pyproject.toml, pylock.toml or uv.lock. Each node gets its packages before the start; left out: what the nodes have.',
      value: values.requirements,
      problem: problems['requirements'],
      wide: true,
      change: this.set('requirements'),
    })}
    ${textField({
      id: 'logdir',
      label: 'Folder with event files',
      help: 'A further folder whose figures are followed; relative to where it starts.',
      value: values.logdir,
      problem: problems['logdir'],
      wide: true,
      change: this.set('logdir'),
    })}
    ${textField({
      id: 'silenceTimeout',
      label: 'Counts as hung after',
      placeholder: 'what the profile says',
      help: 'Without a line or a figure, say 10m. It then starts anew, where restarts are left.',
      value: values.silenceTimeout,
      problem: problems['silenceTimeout'],
      change: this.set('silenceTimeout'),
    })}
    ${
      isHere || view.slurm.length > 0
        ? nothing
        : textField({
            id: 'share',
            label: 'Checkpoints folder',
            placeholder: 'what the profile says',
            help: 'Each node gets it from the head before each start, say checkpoints.',
            value: values.share,
            problem: problems['share'],
            change: this.set('share'),
          })
    }`;
  }

  private data(values: FormValues, view: FormView): TemplateResult {
    const { problems, folder, connection, isHere } = view;
    const data = {
      id: 'data',
      label: 'Training images',
      help: 'A folder with one folder for each class, or of TFRecord shards, as the node calls it; or synthetic.',
      placeholder: '/data/images/train',
      value: values.data,
      problem: problems['data'],
      wide: true,
      change: this.set('data'),
    };
    return html`<fieldset>
      <legend>Data</legend>
      ${field(
        data,
        html`<div class="row wraps">
          ${textInput(data)}
          <button
            type="button"
            class="secondary"
            aria-expanded=${folder ? 'true' : 'false'}
            title=${isHere ? 'Looks into the folders of this machine, here in the form' : 'Looks into the folders of the node, here in the form'}
            ?disabled=${connection !== 'connected'}
            @click=${() => {
              const isPath = /^(\/|~\/)/.test(values.data);
              const start = isPath ? values.data.replace(/[^/]*\/?$/, '') : '~/';
              this.post({ type: 'look', path: folder ? '' : start });
            }}
          >
            Browse
          </button>
          <button
            type="button"
            class=${problems['data'] === undefined || isHere ? 'secondary' : 'primary'}
            title=${isHere ? 'Asks for a folder of this machine in a dialog' : 'Copies a folder of this machine to all nodes of the profile'}
            @click=${() => {
              this.post({ type: 'upload' });
            }}
          >
            ${isHere ? 'Choose…' : 'Upload from Here…'}
          </button>
        </div>`,
      )}
      ${
        folder
          ? html`<trainyard-folder
              class="wide"
              .folder=${folder}
              .look=${(path: string) => {
                this.post({ type: 'look', path });
              }}
              .take=${(path: string) => {
                this.post({ type: 'take', path });
              }}
            ></trainyard-folder>`
          : nothing
      }
      ${view.dataText === '' ? nothing : html`<p class="help wide" role="status">${view.dataText}</p>`}
      ${textField({
        id: 'evalData',
        label: 'Validation images',
        help: view.validation ? 'Checkpoints are evaluated on them while training.' : usualHelp,
        placeholder: '/data/images/validation',
        value: values.evalData,
        problem: problems['evalData'],
        wide: true,
        change: this.set('evalData'),
      })}
      ${view.validation ? validation(view.validation, this.post) : nothing}
    </fieldset>`;
  }

  private options(values: FormValues, view: FormView): TemplateResult {
    return html`<fieldset>
      <legend>Training</legend>
      ${view.options.map((option) => this.option(values, view, option))}
      <trainyard-flags
        class="wide"
        .value=${values.flags}
        .problem=${view.problems['flags']}
        .suggestions=${view.suggestions}
        .change=${this.set('flags')}
      ></trainyard-flags>
    </fieldset>`;
  }

  private option(values: FormValues, view: FormView, option: FormOption): TemplateResult {
    const { flag, label, range, initial, choices } = option;
    const problem = view.problems[flag];
    // What is wrong says the range itself.
    const parts = [option.help, problem === undefined ? range : ''].filter((part) => part !== '');
    const help = parts.map((part) => part.replace(/\.?$/, '.')).join(' ');
    const common = {
      id: flag.replace(/^-+/, ''),
      label,
      help,
      value: values.options[flag] ?? '',
      problem,
      change: (value: string): void => {
        const { [flag]: before, ...others } = this.values?.options ?? {};
        if (before !== value) this.change({ options: value === '' ? others : { ...others, [flag]: value } });
      },
    };
    if (choices.length === 0) return textField({ ...common, placeholder: initial });
    const usual = { value: '', label: initial === '' ? 'the default' : `${initial} (default)`, group: '' };
    const others = choices
      .filter((choice) => choice !== initial)
      .map((choice) => ({ value: choice, label: choice, group: '' }));
    return choiceField({ ...common, choices: [usual, ...others] });
  }

  private about(values: FormValues, view: FormView): TemplateResult {
    const { problems } = view;
    return html`<fieldset class="two">
      <legend>Name</legend>
      ${textField({
        id: 'name',
        label: 'Name',
        placeholder: values.what === 'train' ? values.model : 'the program',
        value: values.name,
        problem: problems['name'],
        change: this.set('name'),
      })}
      ${textField({
        id: 'tags',
        label: 'Tags',
        placeholder: 'baseline, lr 0.1',
        help: 'With commas between them.',
        value: values.tags,
        problem: problems['tags'],
        change: this.set('tags'),
      })}
      ${textField({
        id: 'notes',
        label: 'Notes',
        value: values.notes,
        problem: problems['notes'],
        lines: 2,
        wide: true,
        change: this.set('notes'),
      })}
    </fieldset>`;
  }
}

define('trainyard-form', FormPage);
