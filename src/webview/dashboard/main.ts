// The dashboard's page begins here.
import { Controller } from './page/controller.js';
import { Host } from './page/host.js';
import { Page } from './page/page.js';

const root = document.querySelector<HTMLElement>('#app');
if (!root) throw new Error('the page has no #app to draw into');

const host = new Host(JSON.parse(root.dataset['run'] ?? 'null'));
window.addEventListener('error', ({ message }) => {
  host.post({ type: 'failed', message });
});
window.addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
  host.post({
    type: 'failed',
    message: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
  });
});

const page = new Page();
page.controller = new Controller(host, root, () => {
  page.requestUpdate();
});
root.replaceChildren(page);
page.controller.start();
