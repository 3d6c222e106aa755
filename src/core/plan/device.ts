// What a run computes on: as asked for, or, with `auto`, CUDA where all that it needs is there,
// else the CPU. And why.
import { UserError } from '../base/errors.js';
import type { Profile } from '../contracts/profileSchema.js';
import { startsRanks } from '../contracts/slots.js';
import type { DeviceChoice } from '../contracts/runSchema.js';
import { noGpusFor, placeRanks, type NodeOffer, type Placement } from './placement.js';
import { ofOurTrainer, wordsOf, type Device, type RunRequest } from './request/request.js';

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
  const blind = setsVisible(request.profile);
  if (blind !== undefined && asked === 'cuda') {
    const hint = 'Remove it from "env", and name GPUs as "gpus" of the host or for the run';
    throw new UserError('usage', blind, hint);
  }
  if (asked !== 'auto') {
    const why = asked === request.deviceBefore ? 'as before' : 'it was asked for';
    return on(asked, ofOurTrainer(request) ? { asked, used: asked, why } : undefined);
  }
  const auto = (used: Device, why: string): PlacedRun => on(used, { asked, used, why });
  const before = await looks.before();
  if (before !== undefined) return auto(before, 'the earlier run in this folder used it');
  const lacking = blind ?? noGpusFor(wanted, offers);
  if (lacking !== undefined) return auto('cpu', lacking);
  const placement = placeRanks(wanted, 'cuda', offers);
  const trouble = await looks.backEnd(placement);
  if (trouble !== undefined) return auto('cpu', trouble);
  const gpus = placement.nodes
    .filter(startsRanks)
    .map(({ host, slots }) => `${slots} on ${host}`)
    .join(', ');
  return { placement, device: 'cuda', choice: { asked, used: 'cuda', why: `free GPUs: ${gpus}` } };
}

/**
 * Why a run by this profile takes no GPUs: locks hold those that a run sees, and a variable of the
 * profile would show it others.
 */
function setsVisible({ name, env = {} }: Profile): string | undefined {
  const variable = 'CUDA_VISIBLE_DEVICES';
  return variable in env
    ? `profile ${name} sets ${variable}, which would hide the GPUs that a run takes`
    : undefined;
}
