// Which files of a code folder stay at home: by the rules of .gitignore, for what git is not asked
// about, and by rules of our own.
import ignore, { type Ignore } from 'ignore';

/** The file that says what else is not sent, or is sent all the same; same rules as .gitignore. */
export const ownIgnoreFile = '.trainyardignore';

const neverCode = ['.git', 'node_modules', '__pycache__', '.venv'];

/** Names that files with secrets usually have. */
const secretNames = [
  ...['.env', '.env.*', '!.env.example', '!.env.sample', '!.env.template'],
  ...['*.pem', '*.p12', '*.pfx', 'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*'],
  ...['.netrc', '_netrc', '.git-credentials', '.pypirc', 'credentials.json', 'kaggle.json'],
  ...['.aws/credentials', '.docker/config.json', '.ssh/', '.gnupg/'],
];

const anywhere = (rule: string): string =>
  rule.includes('/') && !rule.startsWith('!') ? `**/${rule}` : rule;

const secrets = ignore().add(secretNames.map(anywhere));

/** What the rules say of a path. `kept`: a rule says that it is sent. */
export type Verdict = 'ignored' | 'kept' | 'unsaid';

/** Rules of one folder, and of those above it. */
export class Rules {
  private constructor(private readonly levels: readonly { base: string; rules: Ignore }[]) {}

  static none(): Rules {
    return new Rules([]);
  }

  /** What Trainyard leaves out unless the user's own rules say otherwise. */
  static usual(): Rules {
    return Rules.none().with('', [...neverCode, ...secretNames.map(anywhere)].join('\n'));
  }

  /** The same with the rules of a file in the folder `base`: empty, or a name that ends in a slash. */
  with(base: string, text: string): Rules {
    return new Rules([...this.levels, { base, rules: ignore().add(text) }]);
  }

  /** Of a path below the root; that of a folder ends in a slash. The deepest rule counts. */
  verdict(path: string): Verdict {
    for (const { base, rules } of this.levels.toReversed()) {
      if (!path.startsWith(base) || path.length === base.length) continue;
      const { ignored, unignored } = rules.test(path.slice(base.length));
      if (ignored) return 'ignored';
      if (unignored) return 'kept';
    }
    return 'unsaid';
  }
}

/** Whether a file of this name usually holds a secret. */
export const isSecret = (path: string): boolean => secrets.ignores(path);
