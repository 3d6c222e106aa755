// The page of a comparison begins here.
import type { ComparisonUpdate } from '../protocol.js';
import { Host } from './page/host.js';
import { ComparePage } from './page/page.js';

const root = document.querySelector<HTMLElement>('#app');
if (!root) throw new Error('the page has no #app to draw into');

const host = new Host(JSON.parse(root.dataset['runs'] ?? 'null'));
window.addEventListener('error', ({ message }) => {
  host.post({ type: 'failed', message });
});
window.addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
  host.post({
    type: 'failed',
    message: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
  });
});

const page = new ComparePage(host);
window.addEventListener('message', ({ data }: MessageEvent<ComparisonUpdate>) => {
  page.shown = data;
  void page.updateComplete.then(() => {
    root.dataset['pending'] = String(data.pending);
  });
});
root.replaceChildren(page);
host.post({ type: 'ready' });
