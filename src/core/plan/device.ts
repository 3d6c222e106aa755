// What a run computes on: as asked for, or, with `auto`, CUDA where all that it needs is there,
// else the CPU. And why.
import type { DeviceChoice } from '../contracts/runSchema.js';
import { noGpusFor, placeRanks, type NodeOffer, type Placement } from './placement.js';
import { ofOurTrainer, wordsOf, type Device, type RunRequest } from './request.js';

/** What `auto` asks for. Each is called once at most, and only where the answer counts. */
export interface DeviceLooks {
  /** What an earlier run in the folder of this one computed on. */
  before: () => Promise<Device | undefined>;
  /** Why our CUDA back end cannot compute there, in words; undefined where it can. */
  backEnd: (placement: Placement) => Promise<string | undefined>;
}

/** A run whose ranks have their nodes and their device. */
export interface PlacedRun {
  placement: Placement;
  device: Device;
  /**
   * For the run's record; undefined for a run that says nothing of devices, and for an own program.
   */
  choice: DeviceChoice | undefined;
}

/**
 * UserError (usage, preflight) where it does not fit, or where a device is asked for that is not
 * there.
 */
export async function placeRun(
  request: RunRequest,
  offers: readonly NodeOffer[],
  looks: DeviceLooks,
): Promise<PlacedRun> {
  const { device: asked } = request;
  const wanted = { ...request, words: wordsOf(request), sharesGpus: !ofOurTrainer(request) };
  const on = (device: Device, choice?: DeviceChoice): PlacedRun => ({
    placement: placeRanks(wanted, device, offers),
    device,
    choice,
  });
  if (asked === undefined) return on('cpu');
  if (asked !== 'auto') {
    return on(asked, ofOurTrainer(request) ? { asked, used: asked, why: 'it was asked for' } : undefined);
  }
  const auto = (used: Device, why: string): PlacedRun => on(used, { asked, used, why });
  const before = await looks.before();
  if (before !== undefined) return auto(before, 'the earlier run in this folder used it');
  const lacking = noGpusFor(wanted, offers);
  if (lacking !== undefined) return auto('cpu', lacking);
  const placement = placeRanks(wanted, 'cuda', offers);
  const trouble = await looks.backEnd(placement);
  if (trouble !== undefined) return auto('cpu', trouble);
  const gpus = placement.nodes.map(({ host, slots }) => `${slots} on ${host}`).join(', ');
  return { placement, device: 'cuda', choice: { asked, used: 'cuda', why: `free GPUs: ${gpus}` } };
}
