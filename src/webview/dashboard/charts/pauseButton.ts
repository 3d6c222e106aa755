// Holds the charts still, and says so in place: nothing on the page moves.
import { html, nothing, type TemplateResult } from 'lit';

/** `at`: what is shown while they stand still, and how much they lack. */
export function pauseButton(
  paused: boolean,
  at: string | undefined,
  change: (change: { paused: boolean }) => void,
): TemplateResult {
  return html`${paused && at !== undefined ? html`<span class="pausedat tabular" role="status">${at}</span>` : nothing}
    <button
      type="button"
      class="toggle pause"
      aria-pressed=${paused}
      @click=${() => {
        change({ paused: !paused });
      }}
    >
      <span class="codicon codicon-${paused ? 'play' : 'debug-pause'}" aria-hidden="true"></span>${
        paused ? 'Follow' : 'Pause charts'
      }
    </button>`;
}
