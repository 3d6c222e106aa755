// Unknown host keys are put to the user in one question for all hosts that are being connected, not
// in one for each.
import type { Prompter, UnknownHostKey } from '../base/transport.js';

interface Waiting {
  key: UnknownHostKey;
  answer: Promise<boolean>;
  settle: (answer: Promise<boolean>) => void;
}

/** One connection on its way to its host's key. */
export interface Arrival {
  /** It has its verdict, or will have none. May be called again. */
  done(): void;
}

const identityOf = ({ host, port, fingerprint }: UnknownHostKey): string =>
  `${host}\n${port}\n${fingerprint}`;

/**
 * Gathers questions until every connection under way has met its host's key, or none has come for a
 * while (one dead host must not keep the others waiting). What comes while a question is open is
 * gathered for the next.
 */
export class HostKeyReview {
  private readonly open = new Map<string, Waiting>();
  private gathered: Waiting[] = [];
  private underWay = 0;
  private asking = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly prompter: Pick<Prompter, 'trust'>,
    private readonly patience = 300,
  ) {}

  begin(): Arrival {
    this.underWay++;
    let pending = true;
    return {
      done: () => {
        if (!pending) return;
        pending = false;
        this.underWay--;
        this.lookAgain();
      },
    };
  }

  /** Whether the user trusts this key. The same question is put once, however many wait for it. */
  ask(key: UnknownHostKey): Promise<boolean> {
    const identity = identityOf(key);
    const known = this.open.get(identity);
    if (known) return known.answer;
    let settle: Waiting['settle'] = () => undefined;
    const answer = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    const waiting = { key, answer, settle };
    this.open.set(identity, waiting);
    this.gathered.push(waiting);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.put();
    }, this.patience);
    this.lookAgain();
    return answer;
  }

  private lookAgain(): void {
    if (this.underWay === 0) this.put();
  }

  private put(): void {
    if (this.asking || this.gathered.length === 0) return;
    clearTimeout(this.timer);
    const batch = this.gathered;
    this.gathered = [];
    this.asking = true;
    const answer = this.prompter.trust(batch.map(({ key }) => key)).finally(() => {
      this.asking = false;
      for (const { key } of batch) this.open.delete(identityOf(key));
      this.put();
    });
    for (const waiting of batch) waiting.settle(answer);
  }
}
