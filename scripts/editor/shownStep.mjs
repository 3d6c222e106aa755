// What a dashboard shows, seen from outside of its page.
/* global document */

/** @import { Frame } from 'playwright-core' */

/**
 * The step that a dashboard in this frame has drawn; 0 where there is none.
 * @param {Frame} frame
 */
export async function shownStep(frame) {
  const step = await frame
    .evaluate(() => {
      /** @type {HTMLElement | null} */
      const app = document.querySelector('#app');
      return app?.dataset['step'];
    })
    .catch(() => undefined); // a frame that is being replaced
  return Number(step ?? 0);
}
