// The page's only way out: messages to the extension, and what is kept for the page over a reload.
import type { FromPage } from '../../protocol.js';
import { readView, type ViewState } from '../model/viewState.js';

interface VsCodeApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export class Host {
  private readonly api: VsCodeApi;

  /**
   * `run`: which run this page is of, as the extension wrote it; kept, so that it can bring the
   * page back.
   */
  constructor(private readonly run: unknown) {
    this.api = acquireVsCodeApi();
    this.keepView(this.readView());
  }

  post(message: FromPage): void {
    this.api.postMessage(message);
  }

  readView(): ViewState {
    return readView(this.api.getState());
  }

  keepView(view: ViewState): void {
    this.api.setState({ ...view, run: this.run });
  }
}
