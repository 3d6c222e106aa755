// Of a training that names no images for validation: what could validate it, by one button.
import { html, nothing, type TemplateResult } from 'lit';
import type { FormValidation, FromForm } from '../formProtocol.js';

export function validation(
  { found, holdOut, command }: FormValidation,
  post: (message: FromForm) => void,
): TemplateResult {
  const button = (label: string, icon: string, message: FromForm, disabled = false): TemplateResult =>
    html`<button
      type="button"
      class="secondary"
      ?disabled=${disabled}
      @click=${() => {
        post(message);
      }}
    >
      <span class="codicon codicon-${icon}" aria-hidden="true"></span>${label}
    </button>`;
  if (found !== '') {
    return html`<div class="wide validation">
      <p class="help">Not validated yet, but there are images for it: ${found}</p>
      <p class="buttons">${button('Validate on These', 'check', { type: 'takeHalves' })}</p>
    </div>`;
  }
  if (holdOut !== 'no') {
    const label = holdOut === 'busy' ? 'Holding out…' : 'Hold Out 20% for Validation';
    return html`<div class="wide validation">
      <p class="help">
        Not validated. Held out, a fifth of each class validates, and the rest is trained on. Both parts are
        copied into a new folder beside this one, which stays as it is.
      </p>
      <p class="buttons">${button(label, 'split-horizontal', { type: 'holdOut' }, holdOut === 'busy')}</p>
    </div>`;
  }
  return html`<div class="wide validation">
    <p class="help">
      Not validated: hold out a part. Put some images of each class into a folder validation beside train;
      Browse then takes both with the folder above.${command === '' ? '' : ' Or run:'}
    </p>
    ${
      command === ''
        ? nothing
        : html`<pre tabindex="0" aria-label="Command that holds out a part">${command}</pre>
            <p class="buttons">${button('Copy Command', 'copy', { type: 'copyHoldOut' })}</p>`
    }
  </div>`;
}
