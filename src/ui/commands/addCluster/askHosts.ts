// Which hosts: ticked in a list of those of the SSH configuration, or typed.
import * as vscode from 'vscode';
import type { Host } from '../../../core/contracts/profileSchema.js';
import { parseHosts } from '../../../core/profiles/import.js';
import { ownSurroundings } from '../../../core/ssh/config/config.js';
import { ConfigReader } from '../../../core/ssh/config/configReader.js';
import { configuredHosts } from '../../../core/ssh/config/configuredHosts.js';
import { problemOf } from '../problemOf.js';
import { Ticks } from './ticks.js';

interface Item extends vscode.QuickPickItem {
  hosts: Host[];
}

/** Further hosts are shown without what the configuration says of them. */
const mostDescribed = 64;

/** `'file'`: they are in a file. Undefined: it was given up. */
export async function askHosts(title: string): Promise<Host[] | 'file' | undefined> {
  const names = await configuredHosts();
  const box = vscode.window.createQuickPick<Item>();
  box.title = title;
  box.placeholder =
    names.length === 0
      ? 'Type hosts as you reach them: gpu1 me@gpu2:2222'
      : 'Tick hosts, or type them: gpu1 me@gpu2:2222';
  box.canSelectMany = true;
  box.ignoreFocusOut = true;
  box.matchOnDescription = true;
  box.buttons = [{ iconPath: new vscode.ThemeIcon('file'), tooltip: 'From a Hosts File…' }];
  const list = new HostList(box, names);
  return new Promise((resolve) => {
    box.onDidChangeValue(() => {
      list.render();
    });
    box.onDidChangeSelection((ticked) => {
      list.keep(ticked);
    });
    box.onDidTriggerButton(() => {
      resolve('file');
      box.hide();
    });
    box.onDidAccept(() => {
      const hosts = list.chosen();
      if (hosts.length === 0) return;
      resolve(hosts);
      box.hide();
    });
    box.onDidHide(() => {
      box.dispose();
      resolve(undefined);
    });
    list.render();
    box.show();
    void list.describe();
  });
}

/** What the box offers: hosts of the configuration, hosts that were typed and ticked, what is typed now. */
class HostList {
  private readonly configured: Item[];
  private readonly added: Item[] = [];
  private typed: Item | undefined;
  private readonly ticks: Ticks<Item>;

  constructor(
    private readonly box: vscode.QuickPick<Item>,
    private readonly names: readonly string[],
  ) {
    this.ticks = new Ticks(box, editorPassed);
    this.configured = names.map((host) => ({ label: host, hosts: [{ host }] }));
  }

  render(): void {
    const text = this.box.value.trim();
    const known = [...this.configured, ...this.added].some(({ label }) => label === text);
    this.typed = text === '' || known ? undefined : typedItem(text);
    // Each keeps its place, as ticks need. The editor shows what fits a text best in front.
    this.ticks.assign([...this.configured, ...this.added, ...(this.typed ? [this.typed] : [])]);
  }

  /** What was typed and ticked stays in the list when other text is typed. */
  keep(ticked: readonly Item[]): void {
    this.ticks.take(ticked);
    const { typed } = this;
    if (!typed || !ticked.includes(typed) || typed.hosts.length === 0) return;
    this.typed = undefined;
    this.added.push(typed);
  }

  /** Those that are ticked; where none is, what was typed, or the one host that it stands for. */
  chosen(): Host[] {
    const ticked = this.ticks.all.flatMap(({ hosts }) => hosts);
    if (ticked.length > 0) return ticked;
    const text = this.box.value.trim();
    const exact = this.names.find((name) => name === text);
    const near = this.names.filter((name) => name.includes(text));
    const [active] = this.box.activeItems;
    if (active) return active.hosts;
    if (exact !== undefined) return [{ host: exact }];
    if (text !== '' && near.length === 1) return near.map((host) => ({ host }));
    return this.typed?.hosts ?? [];
  }

  /** Adds to each host where it is, once ssh has said so. A host of which ssh does not is left at that. */
  async describe(): Promise<void> {
    const reader = new ConfigReader({ around: ownSurroundings() });
    await Promise.all(
      this.configured.slice(0, mostDescribed).map(async (item) => {
        const config = await reader.read({ host: item.label }).catch(() => undefined);
        if (!config) return;
        const { user, hostName, port, proxyJump } = config;
        const through = proxyJump === undefined ? '' : ` through ${proxyJump}`;
        item.description = `${user}@${hostName}${port === 22 ? '' : `:${port}`}${through}`;
      }),
    );
    const active = this.box.activeItems;
    this.render();
    this.box.activeItems = active; // or the next key would begin at the top again
  }
}

/**
 * Set for the sake of the way to the editor and back alone: nothing reads it. It is false from the
 * first, so nothing is left of it when the list is gone.
 */
const roundTripKey = 'trainyard.roundTrip';

/** A command has gone to the editor and come back: messages of either way keep their order. */
async function editorPassed(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0)); // by such a timer an assignment is sent
  await vscode.commands.executeCommand('setContext', roundTripKey, false);
}

function typedItem(text: string): Item {
  const lines = text.replace(/[\s,]+/g, '\n');
  const problem = problemOf(() => parseHosts(lines));
  if (problem !== undefined) return { label: text, detail: problem, alwaysShow: true, hosts: [] };
  const hosts = parseHosts(lines);
  const description = hosts.length === 1 ? 'this host, as it is typed' : `these ${hosts.length} hosts`;
  return { label: text, description, alwaysShow: true, hosts };
}
