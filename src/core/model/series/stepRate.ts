// How long a step takes, for the time that is left. What a step takes itself changes and is looked
// at lately; pauses between steps, as for checkpoints, come now and then and are looked at over all
// steps.

/** Step lines looked back at. */
const window = 60;

/** What a step line says of its time: when it was written, and the mean time of its steps. */
interface StepTime {
  step: number;
  /** Seconds since the epoch. */
  time: number;
  step_ms: number;
}

/** Times of the generation under way, from its step lines. */
export class StepRate {
  private recent: { steps: number; seconds: number }[] = [];
  private last: StepTime | undefined;
  /** Between the steps of neighbouring lines. */
  private pauses = { steps: 0, seconds: 0 };
  /** The same up to the newest checkpoint: pauses come with it, so that counts whole rounds. */
  private rounds: { steps: number; seconds: number } | undefined;
  private checkpointed = false;

  push({ step, time, step_ms }: StepTime): void {
    const { last } = this;
    this.last = { step, time, step_ms };
    if (!last || step <= last.step || time <= last.time) return;
    const steps = step - last.step;
    // Where a line's own time is more than passed, the clocks differ: nothing was a pause.
    const seconds = Math.min(time - last.time, (steps * step_ms) / 1000);
    this.recent.push({ steps, seconds });
    if (this.recent.length > window) this.recent.shift();
    this.pauses = {
      steps: this.pauses.steps + steps,
      seconds: this.pauses.seconds + (time - last.time - seconds),
    };
    if (this.checkpointed) this.rounds = { ...this.pauses };
    this.checkpointed = false;
  }

  /** A checkpoint was written: a pause for it, if any, is before a later line. */
  checkpoint(): void {
    this.checkpointed = true;
  }

  clear(): void {
    this.recent = [];
    this.last = undefined;
    this.pauses = { steps: 0, seconds: 0 };
    this.rounds = undefined;
    this.checkpointed = false;
  }

  /** Pauses included. Undefined until two different steps were seen. */
  secondsPerStep(): number | undefined {
    const steps = this.recent.reduce((sum, each) => sum + each.steps, 0);
    if (steps === 0) return undefined;
    const seconds = this.recent.reduce((sum, each) => sum + each.seconds, 0);
    const { rounds = this.pauses } = this;
    return seconds / steps + rounds.seconds / rounds.steps;
  }
}
