// The box in which a command line is typed: it stays until the line can be started.
import { beforeEach, expect, it, vi } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { TrainerFlag } from '../../../../src/core/plan/request/trainerHelp.js';
import { editCommandLine } from '../../../../src/ui/commands/start/commandLine.js';
import { Folders } from '../../../../src/ui/commands/start/folders.js';

interface Item {
  label: string;
}

/** A QuickPick, as far as the box uses it. */
class Box {
  items: Item[] = [];
  hidden = false;
  private text = '';
  private changed: () => void = () => undefined;
  private accepted: () => void = () => undefined;
  private hid: () => void = () => undefined;

  get value(): string {
    return this.text;
  }

  set value(text: string) {
    this.text = text;
    this.changed();
  }

  /** The first one is active, as in the editor. */
  get activeItems(): Item[] {
    return this.items.slice(0, 1);
  }

  onDidChangeValue = (listener: () => void): void => void (this.changed = listener);
  onDidAccept = (listener: () => void): void => void (this.accepted = listener);
  onDidHide = (listener: () => void): void => void (this.hid = listener);
  show = (): void => undefined;
  dispose = (): void => undefined;
  hide = (): void => {
    this.hidden = true;
    this.hid();
  };

  enter(): void {
    this.accepted();
  }

  get labels(): string[] {
    return this.items.map(({ label }) => label);
  }
}

const editor = vi.hoisted(() => ({ boxes: [] as unknown[], make: (): unknown => undefined }));
vi.mock('vscode', () => ({
  window: {
    createQuickPick: () => {
      const made = editor.make();
      editor.boxes.push(made);
      return made;
    },
  },
}));

const flag = (name: string): TrainerFlag =>
  ({ name, value: 'TEXT', choices: [], help: '', initial: undefined }) as unknown as TrainerFlag;
const flags = [flag('--data'), flag('--eval-data'), flag('--model')];

let box: Box;
let line: Promise<string | undefined>;
beforeEach(async () => {
  editor.make = () => new Box();
  line = editCommandLine(
    'Run on lab',
    'train --model mlp',
    Promise.resolve(flags),
    new Folders({} as Machine),
  );
  await Promise.resolve();
  box = editor.boxes.at(-1) as Box;
});

it('keeps a line with a wrong flag, and says what is wrong until it is changed', async () => {
  box.value = 'train --model mlp --evaldata here';
  box.enter();
  expect(box.hidden).toBe(false);
  expect(box.value).toBe('train --model mlp --evaldata here');
  expect(box.labels[0]).toMatch(/^\$\(error\) .*--evaldata.*--eval-data/);
  box.enter();
  expect(box.hidden).toBe(false);
  box.value = 'train --model mlp --eval-data here';
  expect(box.labels[0]).toBe('$(play) Start');
  box.enter();
  expect(await line).toBe('train --model mlp --eval-data here');
});

it('takes other programs as they are, and no open quote', async () => {
  box.value = 'python "train.py';
  box.enter();
  expect(box.labels[0]).toMatch(/^\$\(error\) /);
  box.value = 'python train.py --evaldata here';
  box.enter();
  expect(await line).toBe('python train.py --evaldata here');
});

it('offers flags that contain the word behind those that begin with it', () => {
  box.value = 'train --dat';
  expect(box.labels.slice(1)).toEqual(['--data', '--eval-data']);
  box.value = 'train --val';
  expect(box.labels.slice(1)).toEqual(['--eval-data']);
});
