// What the form can be filled in from, and what is wrong with the file of presets.
import { html, nothing, type TemplateResult } from 'lit';
import type { FormView, FromForm } from '../formProtocol.js';
import { choiceField } from './fields.js';

export function sources(
  { presetProblem, sources: all }: FormView,
  post: (message: FromForm) => void,
): TemplateResult {
  return html`${choiceField({
    id: 'source',
    label: 'Fill in from',
    value: '',
    choices: [{ value: '', label: 'a preset or an earlier run…', group: '' }, ...all],
    change: (source) => {
      if (source !== '') post({ type: 'load', source });
    },
  })}
  ${
    presetProblem === ''
      ? nothing
      : html`<p class="problem" role="alert">
          <span class="codicon codicon-error" aria-hidden="true"></span>
          <span>
            ${presetProblem}
            <button
              type="button"
              class="link"
              @click=${() => {
                post({ type: 'openPresets' });
              }}
            >
              Open the line
            </button>
          </span>
        </p>`
  }`;
}
