// The page's only way out: messages to the extension, and what is kept for the page over a reload.
import type { FromComparePage } from '../../protocol.js';
import { readView, type CompareView } from '../model/view.js';

interface VsCodeApi {
  postMessage(message: FromComparePage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export class Host {
  private readonly api = acquireVsCodeApi();

  /** `runs`: those that the page compares, as the extension wrote them; they bring the page back. */
  constructor(private readonly runs: unknown) {
    this.keepView(this.readView());
  }

  post(message: FromComparePage): void {
    this.api.postMessage(message);
  }

  readView(): CompareView {
    return readView(this.api.getState());
  }

  keepView(view: CompareView): void {
    this.api.setState({ ...view, runs: this.runs });
  }
}
