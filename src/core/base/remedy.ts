// What a person can do about an error, as a code with fields. The terminal (src/cli/remedies.ts)
// and the editor (src/ui/remedies.ts) each put a remedy into their own words.

/** The profile that a remedy is about, or a host of it where only that is known. */
export interface ProfilePlace {
  profile?: string;
  host?: string;
}

/** A command for /bin/sh on the node that has the trouble. */
export interface CommandRemedy {
  kind: 'runCommand';
  /** What the command does, as a sentence without the full stop. */
  purpose: string;
  command: string;
  asRoot: boolean;
  /** What it does counts for new connections alone. */
  onNextLogin: boolean;
}

/** What can be done, and about what. */
export type Remedy =
  /** A value, or a folder, that the profile gives the node is not right. */
  | ({ kind: 'otherWorkdir'; advice?: string } & ProfilePlace)
  | ({ kind: 'moreSpace' } & ProfilePlace)
  | { kind: 'correctKeyFile'; host: string }
  | { kind: 'otherKeyFile'; host: string }
  | { kind: 'nameKeyFile'; host: string }
  /** The server takes none of the keys that were offered. */
  | { kind: 'chooseKeyFile'; host: string }
  | { kind: 'checkHostName'; host: string }
  /** `advice`: what to check, as a sentence without the full stop. */
  | { kind: 'checkAddress'; host: string; advice: string }
  | { kind: 'useOwnSsh'; host: string }
  | { kind: 'useSsh2'; host: string }
  /** `ssh address` on `host`, the head, asks a question. */
  | { kind: 'loginFromHead'; host: string; address: string }
  | { kind: 'openPorts'; profile: string; host: string; range: string }
  | { kind: 'addHosts'; profile: string }
  /** `line` of the profile file, from 1. */
  | { kind: 'correctProfiles'; line: number }
  /** `line` of the file of presets, from 1. */
  | { kind: 'correctWorkspaceFile'; line: number }
  | { kind: 'addProfile' }
  /** `names`: of the profiles there are. */
  | { kind: 'chooseProfile'; names: readonly string[] }
  /** A new connection may do, or what a person answers then. `file`: of the private key. */
  | ({ kind: 'connectAgain' } & ProfilePlace)
  | { kind: 'enterAgain'; host: string }
  | { kind: 'checkPassphrase'; host: string; file: string }
  | { kind: 'acceptHostKey'; host: string }
  | { kind: 'correctSshConfig'; host: string }
  | { kind: 'connectLater'; host: string }
  /** `first`: what is to be done before. */
  | { kind: 'askAgain'; host: string; first?: Remedy }
  | CommandRemedy
  /** A terminal does what this program cannot. */
  | { kind: 'terminalOnHead'; host: string; address: string }
  | { kind: 'terminalOnNode' }
  /** Another request would fit. `words`: a verb of the trainer with its flags, or any command. */
  | { kind: 'fewerRanks'; profile: string; ranks: number; words: readonly string[]; moreSlots: boolean }
  | { kind: 'fewerNodes'; profile: string; nodes: number }
  | { kind: 'fewerSpares'; profile: string; spares: number }
  | { kind: 'freeHead'; profile: string }
  /**
   * Hosts that an earlier run named are lost. `hosts`: some that are there. `resume`: that run and
   * its folder on the node, where it is the one to go on.
   */
  | {
      kind: 'otherHosts';
      hosts: readonly string[];
      resume?: { profile: string; id: string; dir: string };
    }
  /**
   * `host`, the head, has no ranks, and the node of rank 0 does not see its `workdir`. `leftOut`:
   * it could have some, and is none of the hosts that were named.
   */
  | { kind: 'shareWorkdir'; profile: string; host: string; leftOut?: boolean }
  | { kind: 'useCpu'; or: 'profileWithGpus' | 'otherGpus' | 'cudaBuild' | 'packageIndex'; profile?: string }
  /** GPUs that were asked for are held by others. */
  | { kind: 'otherGpus'; profile: string }
  /** More GPUs of each node were asked for than it has. */
  | { kind: 'fewerGpus'; gpus: number }
  /** The same, where they can be waited for. `or`: what else can be done. */
  | { kind: 'waitForGpus'; or: Remedy }
  /** `flag`: without its dashes. `profile`: of the nodes to which data can be copied. */
  | { kind: 'correctData'; flag: string; profile?: string }
  | { kind: 'nameCommand' }
  /** The code folder is to be sent anew. */
  | { kind: 'nameCode'; folder: string }
  /** `elsewhere`: other profiles on which this machine started runs. */
  | { kind: 'startRun'; profile?: string; elsewhere?: readonly string[] }
  | { kind: 'chooseRun'; newest: string; profile?: string }
  /** A run of a like name. `profile`: where it is another one than the one that was looked at. */
  | { kind: 'meantRun'; run: string; profile?: string }
  /** A run of this id is under way, and would have to be over. */
  | { kind: 'stopRun'; run: string }
  /** Of what was given, or the profile says, nothing is left. */
  | { kind: 'greaterBudget' }
  | { kind: 'openTensorBoard' }
  /** The path was written as this machine has it. */
  | { kind: 'nodePath' }
  /** Something of Trainyard itself is missing or broken. `checkout`: it is a copy of the source. */
  | { kind: 'reinstall'; checkout?: boolean }
  | { kind: 'reportProgram' }
  | { kind: 'report'; tryFirst: boolean };

/** What to do: words that every user understands, or a remedy. Empty: nothing can be done. */
export type Advice = string | Remedy;
