// What dialogs call a run.
import type { RunArgument } from '../../contributions.js';
import { runName } from '../../core/model/runName.js';
import type { Services } from '../services.js';

/** The name that the Runs view shows; made of the id where the run is not listed. */
export async function runTitle(services: Services, { profile, id, dir }: RunArgument): Promise<string> {
  const { monitor } = await services.backend();
  const listed = monitor.all.find((each) => each.profile === profile && each.run.entry.dir === dir);
  return runName(listed?.run.entry ?? { id });
}
