// The menu by which a chart is saved: as an image, or as its figures.
import { html, type TemplateResult } from 'lit';
import type { SavedChart } from '../../protocol.js';
import '../elements/menu.js';
import { pngOf, svgOf, type ChartPicture } from './chartImage.js';

/** How a card makes what is saved, at the moment of the click. */
export interface ChartSource {
  /** Of the file, without its ending. */
  name: string;
  title: string;
  picture: () => ChartPicture;
  /** The figures as measured. A chart without it has images alone. */
  csv?: () => string;
}

/**
 * Dispatches `chart-save` on `card` with a SavedChart, or `chart-save-failed` with the reason in
 * words.
 */
export function saveMenu(card: HTMLElement, source: ChartSource): TemplateResult {
  const forms = ['png', 'svg', ...(source.csv ? (['csv'] as const) : [])] as const;
  const items = forms.map((form) => ({
    label: `Save as ${form.toUpperCase()}…`,
    icon: 'save',
    run: () => {
      dataOf(source, form).then(
        (data) => {
          const detail: SavedChart = { form, name: source.name, data };
          card.dispatchEvent(new CustomEvent('chart-save', { bubbles: true, detail }));
        },
        (error: unknown) => {
          const detail = error instanceof Error ? error.message : String(error);
          card.dispatchEvent(new CustomEvent('chart-save-failed', { bubbles: true, detail }));
        },
      );
    },
  }));
  return html`<trainyard-menu
    .label=${`Save the chart ${source.title}`}
    .icon=${'save'}
    .iconOnly=${true}
    .items=${items}
  ></trainyard-menu>`;
}

async function dataOf({ picture, csv }: ChartSource, form: SavedChart['form']): Promise<string> {
  if (form === 'csv') return csv?.() ?? '';
  const svg = svgOf(picture());
  return form === 'svg' ? svg : pngOf(svg);
}
