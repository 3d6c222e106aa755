// One run after the other is chosen, faster than their checkpoints are read.
import { expect, it, vi } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Backend } from '../../../../src/ui/backend.js';
import type { ContextKeys } from '../../../../src/ui/contextKeys.js';
import type { Services } from '../../../../src/ui/services.js';
import { CheckpointTree } from '../../../../src/ui/tree/checkpointTree.js';
import { Reading } from '../../../../src/ui/tree/reading.js';
import { listedRun } from '../../support/listedRun.js';
import { editor } from '../../support/treeEditor.js';

vi.mock('vscode', async () => (await import('../../support/treeEditor.js')).treeEditor);

it('shows those of the run that was chosen last, whichever answer comes last', async () => {
  const all = ['a', 'b', 'c'].map((id) => ({ profile: 'local', run: listedRun(id, 'finished') }));
  const answers = new Map<string, () => void>();
  const list = (dir: string): Promise<object> =>
    new Promise((resolve) => {
      answers.set(dir, () => {
        resolve({ checkpoints: [{ step: 1, path: `of ${dir}`, bytes: 1, time: 1, valid: true }] });
      });
    });
  const client = {
    request: (method: string, { dir = '' }: { dir?: string }) =>
      method === 'checkpoint.list' ? list(dir) : Promise.resolve({ free: 1e9 }),
  };
  const backend = {
    monitor: { all, onChange: () => ({ dispose: () => undefined }) },
    machineUnlessLeft: () => Promise.resolve({ node: { client: () => Promise.resolve(client) } }),
  } as unknown as Backend;
  const services = {
    backend: () => Promise.resolve(backend),
    onBackend: (use: (given: Backend) => void) => {
      use(backend);
      return { dispose: () => undefined };
    },
  } as unknown as Services;
  const tree = new CheckpointTree(services, { update: vi.fn() } as unknown as ContextKeys, new Reading());
  editor.view.visible = true;
  const [first, second, third] = all.map(({ run: { entry } }) => ({
    ...{ profile: 'local', id: entry.id, dir: nodePath(entry.dir) },
  }));
  const answer = async (run: { dir: string } | undefined): Promise<void> => {
    await vi.waitFor(() => {
      expect(answers.has(run?.dir ?? '')).toBe(true);
    });
    answers.get(run?.dir ?? '')?.();
  };
  const one = tree.choose(first!);
  const two = tree.choose(second!);
  const three = tree.choose(third!);
  await answer(first);
  await answer(third);
  await three;
  await answer(second);
  await Promise.all([one, two]);
  expect(tree.run?.id).toBe('c');
  expect(editor.view.description).toContain('c');
  expect(tree.getChildren().map((node) => node.dir)).toEqual([third!.dir]);
  expect(tree.latest?.path).toBe(`of ${third!.dir}`);
  tree.dispose();
});
