// A part of the page that draws itself only when one of its properties changed, and only while it
// can be seen.
import { LitElement } from 'lit';

/** Parts this near to the window are kept up to date, so that scrolling shows no old figures. */
const margin = '200px';

export abstract class Section extends LitElement {
  protected near = false;
  private observer: IntersectionObserver | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.observer = new IntersectionObserver(
      (entries) => {
        this.near = entries.some((entry) => entry.isIntersecting);
        if (this.near) this.requestUpdate();
      },
      { rootMargin: margin },
    );
    this.observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer?.disconnect();
  }

  /** One style sheet for the whole page, and ids that may refer to one another: no shadow tree. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override shouldUpdate(): boolean {
    return this.near || !this.hasUpdated;
  }
}

export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
