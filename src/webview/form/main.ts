// The page of the run form begins here.
import { FormPage } from './page.js';
import type { FromForm, ToForm } from '../formProtocol.js';

declare function acquireVsCodeApi(): { postMessage(message: FromForm): void };

const root = document.querySelector<HTMLElement>('#app');
if (!root) throw new Error('the page has no #app to draw into');

const editor = acquireVsCodeApi();
const post = (message: FromForm): void => {
  editor.postMessage(message);
};
window.addEventListener('error', ({ message }) => {
  post({ type: 'failed', message });
});
window.addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
  post({
    type: 'failed',
    message: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
  });
});

const page = new FormPage();
page.post = post;
window.addEventListener('message', ({ data }: MessageEvent<ToForm>) => {
  page.receive(data);
});
root.replaceChildren(page);
post({ type: 'ready' });
