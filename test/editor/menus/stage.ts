// What the clicks in menus need: the rows of a view, a click by an entry's key, and what is looked at
// afterwards.
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { until } from '../support/hostClient.js';
import { clickMenu } from '../support/questions.js';
import type { Workbench } from '../support/workbench.js';
import { entryOfKey } from './entries.js';

export class Stage {
  constructor(readonly workbench: Workbench) {}

  pane(view: string): Locator {
    const { page } = this.workbench;
    const header = page.locator('.pane-header h3', { hasText: new RegExp(`^${view}$`, 'i') });
    return page.locator('.sidebar .pane').filter({ has: header });
  }

  row(view: string, text: string | RegExp): Locator {
    return this.pane(view).locator('.monaco-list-row', { hasText: text }).first();
  }

  /** `row`: the text of the item whose entry it is. */
  async click(key: string, row: string | RegExp): Promise<void> {
    const { view, place, title } = entryOfKey(key);
    const button = (within: Locator, label: string): Locator =>
      within.locator(`.action-label[aria-label^="${label}"]`).first();
    if (place === 'menu') {
      await clickMenu(this.workbench, this.row(view, row), title);
    } else if (place === 'inline') {
      const item = this.row(view, row);
      // A row that is drawn anew loses its button until it is pointed at once more.
      await until(`button ${title}`, async () => {
        await item.hover({ timeout: 2000 });
        await button(item, title).click({ timeout: 2000 });
        return true;
      });
    } else {
      const header = this.pane(view).locator('.pane-header');
      await header.hover();
      if (place === 'title') {
        await button(header, title).click();
        return;
      }
      const { page } = this.workbench;
      const line = page.locator('.monaco-menu .action-item', { hasText: title }).first();
      // A menu closes where the header is drawn anew beneath it.
      await until(`entry ${title}`, async () => {
        if (await page.locator('.monaco-menu').first().isVisible()) await page.keyboard.press('Escape');
        await header.hover({ timeout: 2000 });
        await button(header, 'More Actions').click({ timeout: 2000 });
        await line.waitFor({ timeout: 2000 });
        await page.waitForTimeout(400); // a menu takes no click in its first moments
        await line.click({ timeout: 2000 });
        return true;
      });
    }
  }

  /** Something is asked, and given up. */
  async isAsked(text: string | RegExp): Promise<void> {
    const { page } = this.workbench;
    const widget = page.locator('.quick-input-widget:visible');
    await until(`question ${String(text)}`, async () => {
      const input = widget.locator('input').first();
      const words = [
        await widget.innerText(),
        await input.inputValue(),
        await input.getAttribute('placeholder'),
      ];
      return words.some((each) => (typeof text === 'string' ? each?.includes(text) : text.test(each ?? '')))
        ? true
        : undefined;
    });
    await page.keyboard.press('Escape');
    await widget.waitFor({ state: 'detached' }).catch(() => widget.waitFor({ state: 'hidden' }));
  }

  /** A dialog asks, and is answered. */
  async isWarned(text: string, button: string): Promise<void> {
    const dialog = this.workbench.page.locator('.monaco-dialog-box', { hasText: text });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  async toast(text: string | RegExp): Promise<void> {
    await this.workbench.page.locator('.notification-toast', { hasText: text }).first().waitFor();
    await this.workbench.host.command('notifications.clearAll');
  }

  /** A tab with this in its title is in front; it is closed again. */
  async tab(title: string): Promise<void> {
    await until(`tab ${title}`, async () => {
      const tabs = await this.workbench.host.ask('tabs', {});
      return tabs.some(({ label, active }) => active && label.includes(title)) ? true : undefined;
    });
    await this.closeTabs();
  }

  async closeTabs(): Promise<void> {
    await this.workbench.host.command('workbench.action.closeAllEditors');
  }

  async dashboard(): Promise<void> {
    await until('a dashboard in front', async () =>
      (await this.workbench.snapshot()).dashboards.some(({ visible }) => visible) ? true : undefined,
    );
    await this.closeTabs();
  }

  async clipboard(wanted: string | RegExp): Promise<void> {
    await until(`${String(wanted)} in the clipboard`, async () => {
      const text = String(await this.workbench.page.evaluate('navigator.clipboard.readText()'));
      return (typeof wanted === 'string' ? text === wanted : wanted.test(text)) ? true : undefined;
    });
    await this.workbench.page.evaluate("navigator.clipboard.writeText('')");
  }

  /** A terminal of this name is there; all are ended. */
  async terminal(name: string): Promise<void> {
    const tabs = this.workbench.page.locator('.single-terminal-tab, .terminal-tabs-entry');
    await tabs.filter({ hasText: name }).first().waitFor();
    await this.workbench.host.command('workbench.action.terminal.killAll');
    await this.workbench.host.command('workbench.action.closePanel');
  }

  async says(
    view: 'clusters' | 'runs' | 'checkpoints',
    text: string | RegExp,
    isThere = true,
  ): Promise<void> {
    await until(
      `${String(text)} in ${view}${isThere ? '' : ' no more'}`,
      async () => {
        const now = JSON.stringify((await this.workbench.snapshot())[view]);
        return (typeof text === 'string' ? now.includes(text) : text.test(now)) === isThere
          ? true
          : undefined;
      },
      60,
    );
  }

  /** The newest run whose id has this in it. */
  run(name: string): string {
    return this.workbench.runs().findLast((dir) => dir.includes(name)) ?? '';
  }

  async phase(name: string, ...wanted: string[]): Promise<void> {
    await until(
      `${name} ${wanted.join(' or ')}`,
      () => (wanted.includes(this.workbench.state(this.run(name)).phase) ? true : undefined),
      60,
    );
  }

  /** Points at the row once: whether its tooltip comes within 2 s, and then stays for 5 s. */
  async pointsAt(row: Locator): Promise<'stayed' | 'never came' | 'went away'> {
    const { page } = this.workbench;
    const tooltip = page.locator('.monaco-hover:visible').first();
    await page.mouse.move(900, 500);
    await tooltip.waitFor({ state: 'hidden' });
    const box = await row.boundingBox();
    if (!box) throw new Error('the row is not to be seen');
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 3 });
    const came = await tooltip.waitFor({ timeout: 2000 }).then(
      () => true,
      () => false,
    );
    if (!came) return 'never came';
    for (const end = Date.now() + 5000; Date.now() < end;) {
      if (!(await tooltip.isVisible())) return 'went away';
      await page.waitForTimeout(50);
    }
    return 'stayed';
  }

  /** Its tooltip comes, at the second pointing at the latest, and stays. */
  async reads(row: Locator): Promise<void> {
    const first = await this.pointsAt(row);
    const last = first === 'never came' ? await this.pointsAt(row) : first;
    if (last !== 'stayed') throw new Error(`the tooltip ${last}`);
  }

  get profiles(): string {
    return join(this.workbench.folder, 'home/profiles.json');
  }
}
