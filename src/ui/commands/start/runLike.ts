// What asks for a run like one of the list.
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { AskedRun } from '../../../core/plan/request/commandLine.js';
import { againOf } from '../../form/formSources.js';
import type { Ui } from '../ui.js';

/** UserError, AgentError. */
export async function runLike({ services }: Ui, { profile, id, dir }: RunArgument): Promise<AskedRun> {
  const session = await (await services.backend()).session(profile);
  const client = await (await session.machine()).node.client();
  const asked = againOf(session.profile, await client.request('run.get', { dir }));
  if (asked) return asked;
  throw new UserError('usage', `${id} has no run.json that can be read`, 'Choose another run');
}
