// Series of images/s that others published: the model is held against them (docs/scaling.md).
import type { Setup, TimedPoint } from './model.js';

/** One series, with what its source says of the machines. */
export interface PublishedSeries {
  name: string;
  source: string;
  /** What the reader must know of the figures. */
  note: string;
  setup: Setup;
  points: readonly TimedPoint[];
}

interface Table {
  name: string;
  source: string;
  note: string;
  /** Of one GPU, images of an update. */
  batch: number;
  /** Millions of parameters, and bytes of the gradient of one. */
  parameters: [millions: number, bytes: number];
  /** Between hosts, gigabits per second; of one host none. */
  gigabits?: number;
  /** GPUs, hosts, images/s. */
  rows: readonly (readonly [gpus: number, hosts: number, rate: number])[];
}

function series({ name, source, note, batch, parameters, gigabits, rows }: Table): PublishedSeries {
  const between = gigabits === undefined ? undefined : { bitsPerSecond: gigabits * 1e9, latency: 5e-5 };
  return {
    name,
    source,
    note,
    setup: { batch, gradientBytes: parameters[0] * 1e6 * parameters[1], samples: [], coresTaken: 0, between },
    points: rows.map(([replicas, hosts, rate]) => ({ replicas, hosts, seconds: (replicas * batch) / rate })),
  };
}

const tensorFlow =
  'TensorFlow, "Benchmarks" (May 2017), site/en/r1/guide/performance/benchmarks.md of its docs';
const aws =
  'AWS, tutorial of Horovod on the Deep Learning AMI (4 and 8 GPUs), and "Scalable multi-node training with TensorFlow" (256 GPUs)';
const imageNet = { images: 1_281_167, epochs: 90 };
const overHours = (hours: number): number => (imageNet.images * imageNet.epochs) / (hours * 3600);
/** Images of 41 epochs: the number of epochs cancels out of every ratio. */
const perMinute = (minutes: number): number => (imageNet.images * 41) / (minutes * 60);

/** All of them. ResNet-50 has 25.56 million parameters, Inception v3 23.8, ResNet-152 60.2. */
export const publishedSeries: readonly PublishedSeries[] = [
  series({
    name: 'AWS, ResNet-50, V100, 171k images/s',
    source: aws,
    note: '4 and 8 GPUs are one host and older software; 256 GPUs are 32 hosts, CUDA 10',
    batch: 256,
    parameters: [25.56, 2],
    gigabits: 25,
    rows: [
      [4, 1, 3012],
      [8, 1, 5874],
      [256, 32, 171_000],
    ],
  }),
  series({
    name: 'AWS, ResNet-50, V100, 140k images/s',
    source: aws,
    note: 'the same with the software before CUDA 10 on 256 GPUs',
    batch: 256,
    parameters: [25.56, 2],
    gigabits: 25,
    rows: [
      [4, 1, 3012],
      [8, 1, 5874],
      [256, 32, 140_000],
    ],
  }),
  series({
    name: 'Goyal et al. 2017, ResNet-50, P100',
    source: 'P. Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", arXiv:1706.02677',
    note: 'from rounded times: 90 epochs in 29 h and in 1 h, one epoch in about 30 s (352 GPUs)',
    batch: 32,
    parameters: [25.56, 4],
    gigabits: 50,
    rows: [
      [8, 1, overHours(29)],
      [256, 32, overHours(1)],
      [352, 44, imageNet.images / 30],
    ],
  }),
  series({
    name: 'TensorFlow, ResNet-50, P100, DGX-1',
    source: tensorFlow,
    note: 'one host, synthetic data',
    batch: 64,
    parameters: [25.56, 4],
    rows: [
      [1, 1, 219],
      [2, 1, 422],
      [4, 1, 852],
      [8, 1, 1734],
    ],
  }),
  series({
    name: 'TensorFlow, ResNet-50, K80, EC2',
    source: tensorFlow,
    note: 'p2.8xlarge, 10 Gbit/s, parameter servers on the workers, synthetic data',
    batch: 64,
    parameters: [25.56, 4],
    gigabits: 10,
    rows: [
      [1, 1, 52.4],
      [8, 1, 378],
      [16, 2, 751],
      [32, 4, 1388],
      [64, 8, 2744],
    ],
  }),
  series({
    name: 'TensorFlow, Inception v3, K80, EC2',
    source: tensorFlow,
    note: 'as above; 6 parameter servers for 8 hosts',
    batch: 64,
    parameters: [23.8, 4],
    gigabits: 10,
    rows: [
      [1, 1, 29.7],
      [8, 1, 229],
      [16, 2, 459],
      [32, 4, 902],
      [64, 8, 1783],
    ],
  }),
  series({
    name: 'TensorFlow, ResNet-152, K80, EC2',
    source: tensorFlow,
    note: 'as above; 4 parameter servers for 8 hosts',
    batch: 32,
    parameters: [60.2, 4],
    gigabits: 10,
    rows: [
      [1, 1, 19.4],
      [8, 1, 146],
      [16, 2, 291],
      [32, 4, 565],
      [64, 8, 981],
    ],
  }),
  series({
    name: 'MLPerf 3.0, ResNet-50, H100',
    source: 'MLCommons, results 3.0-2053, 2071, 2068, 2075 and 2002, as NVIDIA lists them',
    note: 'minutes to an accuracy, taken as if each size made the same epochs; batches differ',
    batch: 128,
    parameters: [25.56, 2],
    gigabits: 3200,
    rows: [
      [8, 1, perMinute(13.466)],
      [64, 8, perMinute(2.664)],
      [512, 64, perMinute(0.509)],
      [768, 96, perMinute(0.369)],
      [3584, 448, perMinute(0.183)],
    ],
  }),
];
