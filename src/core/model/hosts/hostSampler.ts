// One host's figures once a second, while somebody looks.
import { Emitter, type Disposable, type Event } from '../../base/lifecycle.js';
import type { HostSample } from '../../contracts/metricsSchema.js';

/** The figures of a host, or the error why there are none now. */
export type SampleResult = { sample: HostSample } | { error: unknown };

/** Asks `take` every `interval` ms from `start` to `stop`; never two questions at once. */
export class HostSampler implements Disposable {
  private readonly samples = new Emitter<SampleResult>();
  private timer: NodeJS.Timeout | undefined;
  private running = false;
  private busy = false;

  readonly onSample: Event<SampleResult> = this.samples.event;

  constructor(
    private readonly take: () => Promise<HostSample>,
    private readonly interval = 1000,
  ) {}

  start(): void {
    if (this.running) return;
    this.running = true;
    this.timer = setInterval(() => void this.tick(), this.interval);
    void this.tick();
  }

  stop(): void {
    this.running = false;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  dispose(): void {
    this.stop();
    this.samples.dispose();
  }

  private async tick(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    let result: SampleResult;
    try {
      result = { sample: await this.take() };
    } catch (error) {
      result = { error };
    }
    this.busy = false;
    if (this.running) this.samples.fire(result);
  }
}
