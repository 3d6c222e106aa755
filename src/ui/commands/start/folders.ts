// Folders of the machine on which a run will be: offered while a path is typed, or chosen from a
// list one walks through.
import * as vscode from 'vscode';
import type { FolderListing, Machine } from '../../../core/cluster/nodes/machine.js';
import { nodePath } from '../../../core/base/nodePath.js';
import { plural } from '../../figureText.js';
import { errorWords } from '../../remedies.js';

/** More than fit on a screen help nobody. */
const mostOffered = 40;

export const isPath = (word: string): boolean => /^(\/|~\/)/.test(word);

/** `/data/ima` lies in `/data/`. */
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

type Listed = FolderListing | { problem: string };

/** Asks for each folder once; what is not known yet is told by a call when it is. */
export class Folders {
  private readonly known = new Map<string, Listed | undefined>();

  constructor(private readonly machine: Pick<Machine, 'list'>) {}

  /** What is in the folder; undefined as long as it is not known. */
  look(folder: string, onChange: () => void): Listed | undefined {
    if (!this.known.has(folder)) {
      this.known.set(folder, undefined);
      const settle = (listed: Listed): void => {
        this.known.set(folder, listed);
        onChange();
      };
      this.machine.list(nodePath(folder)).then(settle, (error: unknown) => {
        settle({ problem: errorWords(error) });
      });
    }
    return this.known.get(folder);
  }

  /** Folders that begin with what was typed, each as a whole path with a slash at its end. */
  completions(typed: string, onChange: () => void): string[] {
    const parent = parentOf(typed);
    const listed = this.look(parent, onChange);
    if (!listed || 'problem' in listed) return [];
    const begun = typed.slice(parent.length);
    return listed.folders
      .filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
      .slice(0, mostOffered)
      .map((name) => `${parent}${name}/`);
  }
}

interface Item extends vscode.QuickPickItem {
  path: string;
  /** This is the folder, and not the way to another one. */
  isChoice: boolean;
}

/**
 * The editor sorts by how well labels match what was typed: that of the folder itself matches best.
 */
const choice = (folder: string, act: string, content: string): Item => ({
  label: `$(check) ${folder}`,
  description: `${act} this folder: ${content}`,
  alwaysShow: true,
  path: folder.replace(/\/$/, '') || folder,
  isChoice: true,
});

const step = (path: string, icon: string, description = ''): Item => ({
  label: `${icon} ${path}`,
  description,
  alwaysShow: true,
  path,
  isChoice: false,
});

/**
 * Resolves with a path without a slash at its end, or undefined when it was given up. `act`: what is
 * done with the folder.
 */
export function browse(title: string, folders: Folders, act = 'train on'): Promise<string | undefined> {
  return new Promise((resolve) => {
    new FolderQuestion(title, folders, act, resolve).show();
  });
}

class FolderQuestion {
  private readonly box = vscode.window.createQuickPick<Item>();
  /** Enter was pressed while the typed folder was still being listed. */
  private isAccepted = false;

  constructor(
    title: string,
    private readonly folders: Folders,
    private readonly act: string,
    private readonly answer: (path: string | undefined) => void,
  ) {
    const { box } = this;
    box.title = title;
    box.placeholder = '/data/images or ~/images, as it is called there';
    box.ignoreFocusOut = true;
    box.onDidChangeValue(() => {
      this.isAccepted = false;
      this.render();
    });
    box.onDidAccept(() => {
      this.accept();
    });
    box.onDidHide(() => {
      box.dispose();
      answer(undefined);
    });
  }

  show(): void {
    this.box.show();
    // Not before: what stands in a box when it opens is selected, and typing would replace it.
    this.box.value = '~/';
    this.render();
  }

  private render(): void {
    const { box, folders } = this;
    const { value } = box;
    if (!isPath(value)) {
      box.items = [];
      return;
    }
    const onListed = (): void => {
      this.render();
    };
    const folder = parentOf(value);
    const listed = folders.look(folder, onListed);
    box.busy = listed === undefined;
    const below = folders.completions(value, onListed);
    const isThere = value === folder && listed !== undefined && !('problem' in listed);
    const none = below.length === 0 && listed !== undefined;
    box.items = [
      ...(isThere ? [choice(folder, this.act, describe(listed))] : []),
      ...(none && !isThere ? [step(value, '$(circle-slash) There is no folder', describe(listed))] : []),
      ...below.map((path) => step(path, '$(folder)')),
    ];
    if (this.isAccepted && listed !== undefined) this.accept();
  }

  /**
   * Takes the active item if it belongs to what is typed now: the window may still show the items
   * of what was typed before.
   */
  private accept(): void {
    const { box } = this;
    const [active] = box.activeItems;
    const item =
      box.items.find((each) => each.path === active?.path && each.isChoice === active.isChoice) ??
      box.items[0];
    this.isAccepted = item === undefined;
    if (!item) return;
    if (item.isChoice) {
      this.answer(item.path);
      box.hide();
    } else {
      box.value = item.path;
      this.render();
    }
  }
}

function describe(listed: Listed): string {
  if ('problem' in listed) return listed.problem;
  return `${plural(listed.folders.length, 'folder')}, ${plural(listed.others, 'file')}`;
}
