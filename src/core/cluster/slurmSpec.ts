// What a job of Slurm's gets: the script that Slurm runs, and the spec of its run.
import { join, withHome, type NodePath } from '../base/nodePath.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { StartSpec } from '../contracts/runSchema.js';
import type { SlurmRecord } from '../contracts/slurmSchema.js';
import type { PlacedRun } from '../plan/device.js';
import type { NodeOffer, Placement } from '../plan/placement.js';
import type { RunRequest } from '../plan/request/request.js';
import { newRunId } from '../plan/spec.js';
import { oldestDrivers, type CudaRelease } from '../setup/cudaBuild.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { slurmJobName } from '../setup/sources.js';
import type { Allocation } from '../slurm/allocation.js';
import { batchScript } from '../slurm/script.js';

/** Whether TensorBoard runs on the login node, which many clusters do not want. */
export const boardsOnLogin = ({ slurm }: Profile): boolean => slurm?.tensorboard === 'login';

/** Nodes as placing ranks wants them: none is known yet, and all are alike. */
export function offersOf({ nodes, slots, gpusPerNode, cpusPerTask }: Allocation): NodeOffer[] {
  const perNode = slots ?? Math.max(1, gpusPerNode);
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node ${index + 1} of the allocation`;
    return {
      host: { host: name, ...(slots === undefined ? {} : { slots }) },
      address: name,
      cores: perNode * cpusPerTask,
      gpus: Array.from({ length: gpusPerNode }, (_, gpu) => ({ index: gpu, busy: undefined })),
    };
  });
}

/** What each node of the allocation gets. */
function layoutOf({ nodes }: Placement, nvidia: readonly string[] | undefined): SlurmRecord['layout'] {
  return nodes.map(({ slots, workers, gpus }) => ({
    slots,
    ...(workers === undefined ? {} : { workers }),
    gpus: gpus?.length ?? 0,
    ...(nvidia === undefined || gpus === null ? {} : { nvidia: [...nvidia] }),
  }));
}

/** What a job's script is made of, besides the run itself. */
export interface JobPlace {
  allocation: Allocation;
  placed: PlacedRun;
  runtime: NodeRuntime;
  workdir: NodePath;
  home: NodePath;
}

/** The run's id, its folder, and the script of its job. */
export function scriptOf(
  spec: Pick<StartSpec, 'id' | 'dir' | 'label'>,
  { allocation, placed, runtime, workdir, home }: JobPlace,
): { id: string; dir: NodePath; script: string } {
  const { dir: given, id = newRunId(spec.label) } = spec;
  const dir = given === undefined ? join(workdir, 'runs', id) : withHome(home, given);
  const { nodes } = placed.placement;
  const script = batchScript({
    name: id,
    fields: allocation.fields,
    nodes: nodes.length,
    tasksPerNode: Math.max(...nodes.map(({ slots, workers = 1 }) => slots * workers)),
    dir,
    python: runtime.python,
    program: join(runtime.nodeDir, slurmJobName),
  });
  return { id, dir, script };
}

/** The spec of a run whose nodes Slurm chooses. */
export function specOf(
  planned: StartSpec,
  {
    request,
    allocation,
    placed,
    runtime,
    before,
    release,
  }: {
    request: RunRequest;
    allocation: Allocation;
    placed: PlacedRun;
    runtime: NodeRuntime;
    before: RunDetails | undefined;
    /** Of a training on GPUs: the build that its nodes get. */
    release: CudaRelease | undefined;
  },
): StartSpec {
  const id = before?.run?.id;
  const hasState = (before?.state ?? null) !== null;
  return {
    ...planned,
    nodes: undefined,
    share: undefined, // its nodes see one run folder
    ...(id === undefined ? {} : { id }),
    launcher: 'slurm',
    // Else the supervisor starts it, on the first node of the allocation.
    tensorboard: planned.tensorboard && !boardsOnLogin(request.profile),
    slurm: {
      ...(request.slurm === undefined ? {} : { asked: request.slurm }),
      requeue: allocation.fields.requeue === true,
      // What the earlier run left in the folder is not how this one stands.
      ...(hasState ? { goesOn: true } : {}),
      ...(release === undefined ? {} : { oldestDriver: oldestDrivers[release] }),
      layout: layoutOf(placed.placement, runtime.nvidia),
    },
  };
}
