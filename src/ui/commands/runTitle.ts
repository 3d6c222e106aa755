// What dialogs call a run.
import type { RunArgument } from '../../contributions.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { runName } from '../../core/model/runName.js';
import type { Services } from '../services.js';

/** The name that the Runs view shows; made of the id where the run is not listed. */
export const runTitle = async (services: Services, run: RunArgument): Promise<string> =>
  runName((await listedRun(services, run))?.entry ?? run);

/** As the Runs view has it; undefined where it is not listed. */
export async function listedRun(
  services: Services,
  { profile, dir }: RunArgument,
): Promise<RunOverview | undefined> {
  const { monitor } = await services.backend();
  return monitor.all.find((each) => each.profile === profile && each.run.entry.dir === dir)?.run;
}
