// Add Cluster by the keyboard alone, as an editor test gives it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench.js';

export class ClusterFlow {
  constructor(private readonly workbench: Workbench) {}

  /** One after the other. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.workbench.page.keyboard.press(key);
  }

  widget(): Locator {
    return this.workbench.page.locator('.quick-input-widget:visible');
  }

  dialog(): Locator {
    return this.workbench.page.locator('.monaco-dialog-box:visible');
  }

  /** The file of the user's profiles, as it is now. */
  profiles(): string {
    return readFileSync(join(this.workbench.folder, 'home/profiles.json'), 'utf8');
  }

  /** The palette, the command, Enter. */
  async begin(): Promise<void> {
    await this.workbench.palette('Trainyard: Add Cluster');
    await this.press('Enter');
    await this.described();
  }

  /** The hosts are there, and what ssh says of them: the list does not change any more. */
  described(): Promise<void> {
    return this.widget().getByText('@127.0.0.3').waitFor();
  }

  /** Into the list of hosts, until it is offered there. */
  async typeHost(text: string): Promise<void> {
    await this.widget().locator('input').first().fill(text);
    await this.widget().getByText('this host, as it is typed').waitFor();
  }
}
