// Answers to what a command asks in the window, and clicks in its menus.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { until } from './hostClient.js';
import type { Workbench } from './workbench.js';

/** Accepts the choice that a command offers first. */
export async function choose({ page }: Workbench): Promise<void> {
  await page.locator('.quick-input-list:visible .monaco-list-row').first().waitFor();
  await page.keyboard.press('Enter');
}

/** Takes the choice with these words, of those that stand under a question. */
export async function pick({ page }: Workbench, question: string, words: string): Promise<void> {
  const widget = page.locator('.quick-input-widget:visible').filter({
    has: page.locator(`input[placeholder="${question}"]`),
  });
  await widget.locator('.monaco-list-row', { hasText: words }).first().click();
}

/**
 * Types into the box in which a command asks this, and accepts. A box may fill itself a moment
 * after it opens.
 */
export async function answer({ page }: Workbench, question: string, text: string): Promise<void> {
  const input = page.locator('.quick-input-widget:visible', { hasText: question }).locator('input').first();
  await until(`box that keeps ${text}`, async () => {
    await input.fill(text);
    await page.waitForTimeout(700);
    return (await input.inputValue()) === text ? true : undefined;
  });
  await input.press('Enter'); // a page that opens beside it may have taken the focus
}

/** Opens an item's menu by the right button, and clicks the entry. */
export async function clickMenu({ page }: Workbench, item: Locator, entry: string): Promise<void> {
  const line = page.locator('.monaco-menu .action-item', { hasText: entry }).first();
  const menu = page.locator('.monaco-menu');
  // A menu closes where its row is drawn anew, and one that opened too early lacks the entry.
  await until(`menu entry ${entry}`, async () => {
    if (await menu.first().isVisible()) await page.keyboard.press('Escape');
    await item.click({ button: 'right', timeout: 2000 });
    await line.waitFor({ timeout: 2000 });
    // A menu takes no click in its first moments, lest the click that opened it chooses.
    await page.waitForTimeout(400);
    await line.click({ timeout: 2000 });
    return true;
  });
}

/** Fills the run form in by keyboard, with a program of one's own, and starts it; to its end. */
export async function fillForm(workbench: Workbench, command: string): Promise<void> {
  const form = workbench.webview();
  await form.getByLabel('A program of your own').press('Space');
  const line = form.getByLabel('Command', { exact: true });
  await line.pressSequentially(command);
  await form.getByText(`-- ${command}`).waitFor();
  const before = workbench.runs().length;
  await line.press('Control+Enter');
  await until('the run of the form', () => {
    const [newest = ''] = workbench.runs().slice(before);
    if (!existsSync(join(newest, 'state.json'))) return undefined;
    return workbench.state(newest).phase === 'finished' ? true : undefined;
  });
}

/** Starts the run that the form in front asks for. */
export async function startForm(workbench: Workbench): Promise<void> {
  const before = workbench.runs().length;
  await workbench.webview().getByRole('button', { name: 'Start Run' }).click();
  await until('the run of the form', () => {
    const [newest = ''] = workbench.runs().slice(before);
    return existsSync(join(newest, 'state.json')) ? true : undefined;
  });
}

/** Types a line until it has had its effect: a shell that is still starting may lose it. */
export async function typeLine(workbench: Workbench, line: string, done: () => boolean): Promise<void> {
  const terminal = workbench.page.locator('.terminal-wrapper.active');
  await until(`effect of ${line}`, async () => {
    if (done()) return true;
    // Without the focus an open profiles.json would take what is typed, and save it.
    await terminal.click();
    await workbench.page.keyboard.type(`${line}\n`);
    await workbench.page.waitForTimeout(1500);
    return undefined;
  });
}
