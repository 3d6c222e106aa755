// What the journal says of a run's troubles: which of them stand, and which are over.
import type { RunEvent } from '../contracts/runSchema.js';
import { eventText, failed, type EventOf } from './marks.js';

/** Why a generation ended, in one line, and when that was (seconds since the epoch). */
export interface Cause {
  kind: 'rank' | 'node';
  text: string;
  time: number;
}

/** Reads events in the order of the journal; it may begin in the middle of one. */
export class RunJournal {
  /** Counts the starts from 1. */
  generation = 1;
  /** When it began, seconds since the epoch; undefined before the first one. */
  began: number | undefined;
  /** Its supervisor has said how the run ended. */
  isOver = false;
  /** Why the generation before this one ended. */
  previous: Cause | undefined;
  /** What ends the generation under way. */
  cause: Cause | undefined;
  /** The supervisor has said that a restart follows; only that of a run on several hosts does. */
  restarting = false;
  waiting: EventOf<'waiting_for_nodes'> | undefined;
  /** The nodes get a folder of the head's; stands until they have it. */
  sharing: EventOf<'sharing'> | undefined;
  /** Stands until a later step, or until output comes again. */
  stalled: EventOf<'stalled'> | undefined;
  /** These two stand until a later checkpoint. */
  diskLow: EventOf<'disk_low'> | undefined;
  checkpointFailed: EventOf<'checkpoint_failed'> | undefined;
  /** The evaluator failed; stands until it is started again. */
  evaluator: EventOf<'evaluator_exited'> | undefined;
  /** Stands until the end. */
  budget: EventOf<'budget_low' | 'budget_spent'> | undefined;

  add(event: RunEvent): void {
    switch (event.kind) {
      case 'started':
        this.begin(event);
        break;
      case 'rank_exited':
        if (failed(event)) this.blame('rank', event);
        break;
      case 'hang':
        this.blame('rank', event);
        break;
      case 'node_lost':
        this.blame('node', event);
        break;
      case 'restarting':
        this.restarting = true;
        // The supervisor has weighed all that happened.
        if (event.reason !== null) {
          const { kind = 'rank', time = event.time } = this.cause ?? {};
          this.cause = { kind, text: event.reason, time };
        }
        break;
      case 'waiting_for_nodes':
        this.waiting = event;
        this.sharing = undefined;
        break;
      case 'sharing':
        this.waiting = undefined;
        this.sharing = event;
        break;
      case 'shared':
        this.sharing = undefined;
        break;
      case 'stalled':
        this.stalled = event;
        break;
      case 'moving':
        this.stalled = undefined;
        break;
      case 'disk_low':
        this.diskLow = event;
        break;
      case 'checkpoint_failed':
        this.checkpointFailed = event;
        break;
      case 'checkpoint':
        this.diskLow = this.checkpointFailed = undefined;
        break;
      case 'evaluator_exited':
        this.evaluator = failed(event) ? event : undefined;
        break;
      case 'evaluator_started':
        this.evaluator = undefined;
        break;
      case 'budget_low':
      case 'budget_spent':
        this.budget = event;
        break;
      case 'created':
      case 'rank_started':
      case 'debugger_waiting':
      case 'node_joined':
      case 'nodes_replaced':
      case 'mirrored':
      case 'mirror_failed':
      case 'head_changed':
      case 'stop_requested':
      case 'checkpoint_passed_over': // no trouble, or one that the log shows
      case 'tensorboard_started':
      case 'tensorboard_exited':
      case 'gap':
      case 'figures_damaged':
      case 'figures_passed_over':
      case 'figures_limited':
      case 'figures_delayed':
      case 'notify_failed':
        break;
      case 'finished':
        this.isOver = true;
        break;
    }
  }

  private begin({ generation, time }: EventOf<'started'>): void {
    if (generation > this.generation) this.previous = this.cause;
    this.generation = generation;
    this.began = time;
    this.isOver = false;
    this.cause = this.waiting = this.sharing = this.stalled = this.evaluator = undefined;
    this.restarting = false;
  }

  /** The first event that ends a generation is its cause; what follows comes of it. */
  private blame(kind: Cause['kind'], event: RunEvent): void {
    this.cause ??= { kind, text: eventText(event), time: event.time };
  }
}
