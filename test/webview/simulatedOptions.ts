// What a simulated run is made of: five kinds of runs that the dashboard is shown with.
export interface SimulatedOptions {
  name: string;
  tags: readonly string[];
  notes: string;
  hosts: number;
  gpusPerHost: number;
  ranks: number;
  secondsPerStep: number;
  imagesPerSec: number;
  totalSteps: number;
  stepsPerEpoch: number;
  checkpointEvery: number;
  model: string | null;
  command: string;
  /** A rank is lost, and the run goes on without it, at this step. */
  restartAt?: number;
}

export const simulated: Record<'local' | 'cluster' | 'rack' | 'huge' | 'command', SimulatedOptions> = {
  local: {
    name: 'simulated-resnet20-0412',
    tags: [],
    notes: '',
    hosts: 1,
    gpusPerHost: 0,
    ranks: 2,
    secondsPerStep: 0.35,
    imagesPerSec: 366,
    totalSteps: 15_640,
    stepsPerEpoch: 391,
    checkpointEvery: 400,
    model: 'resnet20',
    command: 'trainer train --model resnet20 --data cifar10 --epochs 40 --batch 128',
  },
  cluster: {
    name: 'simulated-resnet50-0412',
    tags: ['baseline', 'bf16'],
    notes: 'Batch 2048 with the rate of the paper.\nCompare with the run of last week.',
    hosts: 2,
    gpusPerHost: 4,
    ranks: 8,
    secondsPerStep: 0.365,
    imagesPerSec: 5610,
    totalSteps: 56_250,
    stepsPerEpoch: 625,
    checkpointEvery: 625,
    model: 'resnet50',
    command: 'trainer train --model resnet50 --data /data/imagenet --epochs 90 --batch 2048 --precision bf16',
    restartAt: 4300,
  },
  rack: {
    name: 'simulated-resnet50-32',
    tags: [],
    notes: '',
    hosts: 4,
    gpusPerHost: 8,
    ranks: 32,
    secondsPerStep: 0.371,
    imagesPerSec: 21_900,
    totalSteps: 14_100,
    stepsPerEpoch: 157,
    checkpointEvery: 157,
    model: 'resnet50',
    command: 'trainer train --model resnet50 --data /data/imagenet --epochs 90 --batch 8192 --precision bf16',
  },
  huge: {
    name: 'simulated-vit-256',
    tags: [],
    notes: '',
    hosts: 32,
    gpusPerHost: 8,
    ranks: 256,
    secondsPerStep: 0.01,
    imagesPerSec: 412_000,
    totalSteps: 900_000,
    stepsPerEpoch: 3000,
    checkpointEvery: 3000,
    model: 'resnet50',
    command: 'trainer train --model resnet50 --data /data/imagenet --epochs 300 --batch 4096',
  },
  command: {
    name: 'simulated-sweep.py',
    tags: [],
    notes: '',
    hosts: 1,
    gpusPerHost: 2,
    ranks: 2,
    secondsPerStep: 1,
    imagesPerSec: 0,
    totalSteps: 0,
    stepsPerEpoch: 1,
    checkpointEvery: 0,
    model: null,
    command: 'python sweep.py --trials 40 --out results/',
  },
};

/** The same figures every time. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
