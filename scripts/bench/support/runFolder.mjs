// A run folder that grows as a run's does, without a run: simulated figures at a chosen rate, for
// measuring what shows them.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

const seconds = () => Date.now() / 1000;
/** @param {unknown} value */
const line = (value) => `${JSON.stringify(value)}\n`;

/**
 * This process stands for the run's supervisor, so that the run counts as alive as long as the
 * measurement lasts.
 */
function supervisor() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const startTime = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { pid: process.pid, startTime, bootId, host: 'simulated' };
}

export class SimulatedRunFolder {
  step = 0;
  /**
   * When each step was written, milliseconds.
   * @type {Map<number, number>}
   */
  written = new Map();
  /** @type {NodeJS.Timeout[]} */
  #timers = [];

  /**
   * `hosts` nodes of eight GPUs each.
   * @param {string} workdir
   * @param {{ hosts?: number }} [size]
   */
  constructor(workdir, { hosts = 0 } = {}) {
    this.id = '20261121-000000-simulated-0000';
    this.dir = join(workdir, 'runs', this.id);
    this.hosts = Array.from({ length: hosts }, (_, index) => `node${String(index).padStart(2, '0')}`);
    for (const name of ['gpus', 'logs']) mkdirSync(join(this.dir, name), { recursive: true });
    const none = '/nonexistent';
    this.#write('run.json', {
      version: 1,
      id: this.id,
      created: seconds(),
      profile: { name: 'local', kind: 'local' },
      program: 'trainer',
      argv: ['train', '--model', 'resnet20', '--data', 'synthetic'],
      ranks: Math.max(2, hosts * 8),
      threadsPerRank: 1,
      env: {},
      evaluator: null,
      tensorboard: false,
      paths: { trainer: none, mpiexec: none, agent: none, python: none, tensorboardServer: none },
      hashes: { trainer: '', agent: '', requirements: '' },
      limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
      launcher: 'fork',
      totalSteps: null,
    });
    this.#write('state.json', {
      version: 1,
      phase: 'running',
      generation: 1,
      world: 2,
      supervisor: supervisor(),
      ranks: [],
      mpiexec: null,
      evaluator: null,
      started: seconds(),
      ended: null,
      exitCode: null,
      reason: null,
      updated: seconds(),
    });
    this.#append('events.jsonl', {
      time: seconds(),
      kind: 'started',
      generation: 1,
      world: 2,
      argv: ['train'],
    });
    this.#append('metrics.jsonl', {
      kind: 'start',
      time: seconds(),
      generation: 1,
      model: 'resnet20',
      parameters: 269397,
      classes: 5,
      class_names: ['a', 'b', 'c', 'd', 'e'],
      train_images: 1600,
      world: 2,
      batch_size: 32,
      global_batch: 64,
      steps_per_epoch: 25,
      total_steps: 1_000_000,
      resumed_from: null,
      precision: 'fp32',
      device: 'cpu',
    });
  }

  /**
   * Begins to write `rate` steps a second, and every node's GPUs once a second, until `stop`.
   * @param {number} rate
   */
  start(rate) {
    const began = performance.now();
    let made = 0;
    const steps = () => {
      while (made < ((performance.now() - began) / 1000) * rate) {
        made++;
        this.#makeStep();
      }
    };
    this.#timers.push(setInterval(steps, Math.min(10, 1000 / rate)));
    if (this.hosts.length > 0) this.#timers.push(setInterval(() => this.#sample(), 1000));
  }

  stop() {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }

  #makeStep() {
    const step = ++this.step;
    this.#append('metrics.jsonl', {
      kind: 'step',
      time: seconds(),
      generation: 1,
      step,
      epoch: step / 25,
      loss: 2 * Math.exp(-step / 2000) + 0.1 * Math.random(),
      top1: Math.min(0.99, step / 4000),
      lr: 0.1,
      images_per_sec: 400 + 40 * Math.random(),
      step_ms: 150,
      comm_ms: 12,
      input_wait_ms: 1,
      world: 2,
    });
    this.written.set(step, Date.now());
  }

  #sample() {
    for (const host of this.hosts) {
      const gpus = Array.from({ length: 8 }, (_, index) => ({
        index,
        uuid: `${host}-${index}`,
        name: 'Simulated 80GB',
        memory_used: Math.round(6e10 + 1e9 * Math.random()),
        memory_total: 8e10,
        utilization: Math.round(90 + 10 * Math.random()),
        temperature: 60,
        power_watts: 600,
        processes: [],
      }));
      const figures = { cpu_percent: 30, memory_used: 1e11, memory_total: 1e12, disk_free: 1e12 };
      this.#append(`gpus/${host}.jsonl`, { time: seconds(), host, ...figures, gpus });
    }
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  #write(name, value) {
    writeFileSync(join(this.dir, name), JSON.stringify(value));
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  #append(name, value) {
    appendFileSync(join(this.dir, name), line(value));
  }
}
