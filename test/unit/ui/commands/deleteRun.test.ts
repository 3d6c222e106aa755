// What a deletion closes: nothing that the user still has where the agent refuses.
import { expect, it, vi } from 'vitest';
import { AgentError } from '../../../../src/core/agent/agentClient.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { agentErrors } from '../../../../src/core/contracts/agentApi.js';
import type { Phase } from '../../../../src/core/contracts/runSchema.js';
import { deleteRun } from '../../../../src/ui/commands/runs/deleteRun.js';
import type { Ui } from '../../../../src/ui/commands/ui.js';
import { stateOf } from '../../support/fakeRun.js';

const asked = vi.hoisted(() => ({ answer: 'Delete', buttons: [] as string[], detail: '' }));
vi.mock('vscode', () => ({
  window: {
    showWarningMessage: (_: string, { detail }: { detail: string }, ...buttons: string[]) => {
      Object.assign(asked, { buttons, detail });
      return Promise.resolve(asked.answer);
    },
    showInformationMessage: () => Promise.resolve(undefined),
  },
}));

const run = { profile: 'lab', id: 'r', dir: nodePath('/w/runs/r') };

/** What was closed, in this order; `refusal`: what the agent says instead of deleting. */
async function closedBy(phase: Phase, refusal?: Error, stays: string[] = [], made = true): Promise<string[]> {
  const done: string[] = [];
  const closing = (what: string): { close: () => void } => ({ close: () => void done.push(what) });
  const request = (method: string, params: { look?: true; everything?: true }): Promise<object> => {
    if (method === 'run.get') {
      const details = { id: run.id, dir: run.dir, run: null, state: stateOf(phase), interrupted: false };
      return Promise.resolve({ ...details, files: {} });
    }
    if (params.look) return Promise.resolve({ stays, stayCount: stays.length, folderStays: !made });
    done.push(params.everything ? `${method} of everything` : method);
    if (refusal) return Promise.reject(refusal);
    return Promise.resolve({ stays: [], stayCount: 0, folderStays: false });
  };
  const machine = { node: { client: () => Promise.resolve({ request }) }, nodes: [] };
  const backend = {
    machine: () => Promise.resolve(machine),
    session: () => Promise.resolve({ profile: { name: 'lab', kind: 'ssh' } }),
    monitor: { refresh: () => Promise.resolve(), all: [] },
  };
  const ui = {
    services: { backend: () => Promise.resolve(backend) },
    checkpoints: { refresh: () => Promise.resolve() },
    tensorboards: closing('TensorBoard'),
    terminals: closing('terminals'),
    dashboards: closing('dashboard'),
  } as unknown as Ui;
  const deleting = deleteRun(ui, run);
  if (refusal) await expect(deleting).rejects.toThrow(refusal.message);
  else await deleting;
  return done;
}

it('closes what shows the run once it is deleted, and its terminals before', async () => {
  expect(await closedBy('finished')).toEqual(['terminals', 'run.delete', 'TensorBoard', 'dashboard']);
});

it("offers to delete the program's files too where there are some", async () => {
  asked.answer = 'Delete Everything';
  expect(await closedBy('finished', undefined, ['mine.pt', 'out/'])).toContain('run.delete of everything');
  expect(asked).toMatchObject({ buttons: ['Delete', 'Delete Everything'] });
  expect(asked.detail).toContain("Your program's files there stay: mine.pt, out/.");
  asked.answer = 'Delete';
  expect(await closedBy('finished', undefined, ['mine.pt'])).toContain('run.delete');
  await closedBy('finished', undefined, ['mine.pt'], false);
  expect(asked.buttons).toEqual(['Delete']); // of a folder that was there before
  await closedBy('finished');
  expect(asked.buttons).toEqual(['Delete']);
});

it('leaves TensorBoard and the dashboard where the agent refuses', async () => {
  const refusal = new AgentError(agentErrors.badState, 'processes of the run are left', 'run.delete');
  expect(await closedBy('finished', refusal)).toEqual(['terminals', 'run.delete']);
});

it('leaves the terminals of a run that goes on again', async () => {
  const refusal = new AgentError(agentErrors.badState, 'the run goes on', 'run.delete');
  expect(await closedBy('running', refusal)).toEqual(['run.delete']);
});
