// What the form comes to: Start, where the run would go, and the command line that does the same.
import { html, nothing, type TemplateResult } from 'lit';
import type { FormView, FromForm } from '../formProtocol.js';

export function summary(view: FormView, post: (message: FromForm) => void): TemplateResult {
  const { command, problems, slurm, placeText, placeTitle, starting, said, saidIsError, keepsPresets } = view;
  const count = Object.keys(problems).length;
  const general = problems[''];
  // It stands at its field, or below.
  const isShownElsewhere = said === placeText || Object.values(problems).includes(said);
  const button = (label: string, icon: string, kind: string, message: FromForm): TemplateResult =>
    html`<button
      type="button"
      class=${kind}
      ?disabled=${starting && message.type === 'start'}
      @click=${() => {
        post(message);
      }}
    >
      <span class="codicon codicon-${icon}" aria-hidden="true"></span>${label}
    </button>`;
  // What changes while somebody types stands below the button, or above it where it is at the
  // bottom.
  return html`<div class="summary">
    <div class="start">
      <p class="buttons">
        ${button(starting ? 'Starting…' : 'Start Run', 'play', 'primary', { type: 'start' })}
        ${
          placeText === ''
            ? nothing
            : html`<span
                class="verdict"
                aria-hidden="true"
                title=${placeText}
                data-text="${placeTitle}: ${placeText}"
              ></span>`
        }
      </p>
      <p class="help" role="status">
        ${count === 0 ? '' : count === 1 ? 'One field is to be corrected.' : `${count} fields are to be corrected.`}
      </p>
      ${
        said === '' || isShownElsewhere
          ? nothing
          : html`<p role=${saidIsError ? 'alert' : 'status'} class=${saidIsError ? 'problem' : 'help'}>
              ${said}
            </p>`
      }
    </div>
    <section aria-label="The run">
      ${placeText === '' ? nothing : html`<p class="place"><b>${placeTitle}: </b>${placeText}</p>`}
      ${
        general === undefined
          ? nothing
          : html`<p class="problem">
              <span class="codicon codicon-error" aria-hidden="true"></span><span>${general}</span>
            </p>`
      }
      <h2>As a command</h2>
      ${
        command === ''
          ? html`<p class="help">Not complete yet.</p>`
          : html`<pre tabindex="0" aria-label="Command line">${command}</pre>`
      }
      <p class="buttons">
        ${command === '' ? nothing : button('Copy', 'copy', 'secondary', { type: 'copy' })}
        ${command !== '' && slurm.length > 0 ? button('Show Batch Script', 'file-code', 'secondary', { type: 'showScript' }) : nothing}
        ${keepsPresets ? button('Save as Preset…', 'save', 'secondary', { type: 'savePreset' }) : nothing}
      </p>
    </section>
  </div>`;
}
