// The parts that fields are made of: a label, the control, what helps, and what is wrong with it.
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { FormChoice } from '../formProtocol.js';

interface FieldOptions {
  /** Unique in the page. */
  id: string;
  label: string;
  help?: string;
  /** What a word of it means, under the pointer. */
  title?: string;
  problem?: string | undefined;
  wide?: boolean;
}

/** What names the help and the problem of a control to a screen reader. */
const describedBy = ({ id, help, problem }: FieldOptions): string | typeof nothing => {
  const ids = [...(problem === undefined ? [] : [`${id}-problem`]), ...(help ? [`${id}-help`] : [])];
  return ids.length === 0 ? nothing : ids.join(' ');
};

export function field(options: FieldOptions, control: TemplateResult): TemplateResult {
  const { id, label, help, title, problem, wide } = options;
  return html`<div class=${wide === true ? 'field wide' : 'field'} title=${title ?? nothing}>
    <label for=${id}>${label}</label>
    ${control} ${problemText(id, problem)} ${help ? html`<small id="${id}-help">${help}</small>` : nothing}
  </div>`;
}

export const problemText = (id: string, problem: string | undefined): TemplateResult | typeof nothing =>
  problem === undefined
    ? nothing
    : html`<p class="problem" id="${id}-problem">
        <span class="codicon codicon-error" aria-hidden="true"></span><span>${problem}</span>
      </p>`;

interface TextOptions extends FieldOptions {
  value: string;
  placeholder?: string;
  /** Looks like code. */
  code?: boolean;
  lines?: number;
  change: (value: string) => void;
}

const valueOf = (event: Event): string => (event.target as HTMLInputElement).value;

export function textInput(options: TextOptions): TemplateResult {
  const { id, value, placeholder = '', code, problem, change } = options;
  return html`<input
    type="text"
    id=${id}
    class=${code === true ? 'code' : ''}
    spellcheck="false"
    autocomplete="off"
    placeholder=${placeholder}
    aria-invalid=${problem === undefined ? 'false' : 'true'}
    aria-describedby=${describedBy(options)}
    .value=${live(value)}
    @input=${(event: Event) => {
      change(valueOf(event));
    }}
  />`;
}

export function textField(options: TextOptions): TemplateResult {
  const { id, value, placeholder = '', code, lines, problem, change } = options;
  if (lines === undefined) return field(options, textInput(options));
  return field(
    options,
    html`<textarea
      id=${id}
      rows=${lines}
      class=${code === true ? 'code' : ''}
      spellcheck=${code === true ? 'false' : 'true'}
      placeholder=${placeholder}
      aria-invalid=${problem === undefined ? 'false' : 'true'}
      aria-describedby=${describedBy(options)}
      .value=${live(value)}
      @input=${(event: Event) => {
        change(valueOf(event));
      }}
    ></textarea>`,
  );
}

interface ChoiceOptions extends FieldOptions {
  value: string;
  choices: readonly FormChoice[];
  change: (value: string) => void;
}

export function choiceField(options: ChoiceOptions): TemplateResult {
  const { id, value, choices, problem, change } = options;
  const groups = [...new Set(choices.map(({ group }) => group))];
  const entries = (group: string): TemplateResult[] =>
    choices
      .filter((choice) => choice.group === group)
      .map(
        (choice) =>
          html`<option value=${choice.value} ?selected=${choice.value === value}>${choice.label}</option>`,
      );
  return field(
    options,
    html`<select
      id=${id}
      aria-invalid=${problem === undefined ? 'false' : 'true'}
      aria-describedby=${describedBy(options)}
      .value=${live(value)}
      @change=${(event: Event) => {
        change(valueOf(event));
      }}
    >
      ${groups.map((group) =>
        group === '' ? entries(group) : html`<optgroup label=${group}>${entries(group)}</optgroup>`,
      )}
    </select>`,
  );
}

export const checkBox = (
  id: string,
  label: string,
  checked: boolean,
  change: (checked: boolean) => void,
): TemplateResult =>
  html`<label class="check" for=${id}>
    <input
      type="checkbox"
      id=${id}
      .checked=${live(checked)}
      @change=${(event: Event) => {
        change((event.target as HTMLInputElement).checked);
      }}
    />${label}
  </label>`;

/** One of few, shown all at once. */
export const radios = <T extends string>(
  name: string,
  label: string,
  value: T,
  /** Value, words, and what they mean. */
  choices: readonly (readonly [T, string, title?: string])[],
  change: (value: T) => void,
): TemplateResult =>
  html`<div class="tabs wide" role="radiogroup" aria-label=${label}>
    ${choices.map(
      ([choice, words, title]) =>
        html`<label class="check" for="${name}-${choice}" title=${title ?? nothing}>
          <input
            type="radio"
            id="${name}-${choice}"
            name=${name}
            .checked=${live(choice === value)}
            @change=${() => {
              change(choice);
            }}
          />${words}
        </label>`,
    )}
  </div>`;
