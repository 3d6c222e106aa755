// Whose weights the training begins with: a line that can be taken away.
import { html, type TemplateResult } from 'lit';
import type { FormView } from '../formProtocol.js';
import { problemText } from './fields.js';
import type { FormChange } from './where.js';

export function origin(
  { origin: from, problems }: FormView,
  change: (change: FormChange) => void,
): TemplateResult {
  return html`<div class="field wide">
    <p class="row origin">
      <span>Starts with the weights of <b>${from}</b></span>
      <button
        type="button"
        class="secondary"
        aria-label="Remove: start with new weights"
        @click=${() => {
          change({ weights: '' });
        }}
      >
        Remove
      </button>
    </p>
    ${problemText('weights', problems['weights'])}
    <small>It begins at step 0: the optimizer's memory and the schedule are its own.</small>
  </div>`;
}
