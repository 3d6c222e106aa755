// Name, tags and notes of a run that others describe while the questions are on the screen.
import { beforeEach, expect, it, vi } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunAbout } from '../../../../src/core/contracts/runSchema.js';
import { describeRun } from '../../../../src/ui/commands/runs/describeRun.js';
import type { Ui } from '../../../../src/ui/commands/ui.js';

/** What is typed into each box by its first word; where it is left out, the box stays as it is. */
const editor = vi.hoisted((): { typed: Record<string, string> } => ({ typed: {} }));
vi.mock('vscode', () => ({
  window: {
    showInputBox: ({ prompt, value }: { prompt: string; value: string }) =>
      Promise.resolve(editor.typed[/\w+/.exec(prompt)?.[0] ?? ''] ?? value),
  },
}));

const run = { profile: 'lab', id: 'r', dir: nodePath('/w/runs/r') };
let about: RunAbout;
let noted: string[];
beforeEach(() => {
  about = { name: 'first', tags: ['good'], notes: 'a note' };
  noted = [];
  editor.typed = {};
});

/** `meanwhile` is what the run is called once the boxes were opened. */
function uiOf(meanwhile: RunAbout): Ui {
  const request = (method: string, params: { about?: RunAbout }): Promise<object> => {
    if (method === 'run.get') {
      const answer = { about };
      about = meanwhile;
      return Promise.resolve(answer);
    }
    about = params.about ?? about;
    return Promise.resolve({});
  };
  const backend = {
    machine: () => Promise.resolve({ node: { client: () => Promise.resolve({ request }) } }),
    noteName: (_id: string, name: string) => Promise.resolve(void noted.push(name)),
    feeds: { look: () => undefined },
    monitor: { refresh: () => Promise.resolve() },
  };
  return { services: { backend: () => Promise.resolve(backend) } } as unknown as Ui;
}

it('keeps a tag and a name that came meanwhile', async () => {
  editor.typed = { Notes: 'another note' };
  await describeRun(uiOf({ name: 'second', tags: ['good', 'new'], notes: 'a note' }), run);
  expect(about).toEqual({ name: 'second', tags: ['good', 'new'], notes: 'another note' });
  expect(noted).toEqual(['second']);
});

it('writes each field that was typed, also an empty one', async () => {
  editor.typed = { Name: ' mine ', Tags: 'best, #old', Notes: '' };
  await describeRun(uiOf({ name: 'second', tags: [], notes: 'theirs' }), run);
  expect(about).toEqual({ name: 'mine', tags: ['best', 'old'], notes: '' });
  expect(noted).toEqual(['mine']);
});
