// The profile's nodes in the form: connected or not, and what is free on each now.
import { html, nothing, type TemplateResult } from 'lit';
import type { FormNode, FormView, FromForm } from '../formProtocol.js';

export function nodesOf(view: FormView, post: (message: FromForm) => void): TemplateResult {
  const { connection, connectionText, nodes } = view;
  const canConnect = connection === 'none' || connection === 'failed';
  return html`<div class="wide">
    ${
      connectionText === ''
        ? nothing
        : html`<p class="row" role="status"><span class="help">${connectionText}</span></p>`
    }
    ${
      canConnect
        ? html`<button
            type="button"
            class="secondary"
            @click=${() => {
              post({ type: 'connect' });
            }}
          >
            <span class="codicon codicon-plug" aria-hidden="true"></span>Connect
          </button>`
        : nothing
    }
    ${nodes.map(nodeOf)}
  </div>`;
}

const nodeOf = ({ host, text, gpus }: FormNode): TemplateResult =>
  html`<div class="node">
    <p><b>${host}</b><span>${text}</span></p>
    ${
      gpus.length === 0
        ? nothing
        : html`<ul class="gpus" aria-label="GPUs of ${host}">
            ${gpus.map(
              (gpu) =>
                html`<li class=${gpu.free ? 'free' : 'taken'} title=${gpu.name}>
                  ${gpu.index} <small>${gpu.text}</small>
                </li>`,
            )}
          </ul>`
    }
  </div>`;
