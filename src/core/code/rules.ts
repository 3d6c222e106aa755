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

interface Level {
  /** Empty, or a name that ends in a slash. */
  base: string;
  rules: Ignore;
  /** What a path holds that one of the rules can be about; undefined where that is not known. */
  hint?: RegExp;
}

/** What a path must hold for one of these rules, since the full test of a path takes long. */
function hintOf(rules: readonly string[]): RegExp {
  const literals = rules.map((rule) => {
    const parts = rule.split('*').map((part) => part.replace(/^[!/]+|\/$/g, ''));
    return parts.reduce((longest, part) => (part.length > longest.length ? part : longest));
  });
  return new RegExp(literals.map((text) => text.replaceAll('.', '\\.')).join('|'), 'i');
}

/** Rules of one folder, and of those above it. */
export class Rules {
  private constructor(private readonly levels: readonly Level[]) {}

  static none(): Rules {
    return new Rules([]);
  }

  /** What Trainyard leaves out unless the user's own rules say otherwise. */
  static usual(): Rules {
    const all = [...neverCode, ...secretNames.map(anywhere)];
    return new Rules([{ base: '', rules: ignore().add(all), hint: hintOf(all) }]);
  }

  /** The same with the rules of a file in the folder `base`: empty, or a name that ends in a slash. */
  with(base: string, text: string): Rules {
    return new Rules([...this.levels, { base, rules: ignore().add(text) }]);
  }

  /** Of a path below the root; that of a folder ends in a slash. The deepest rule counts. */
  verdict(path: string): Verdict {
    for (const { base, rules, hint } of this.levels.toReversed()) {
      if (!path.startsWith(base) || path.length === base.length) continue;
      if (hint?.test(path) === false) continue;
      const { ignored, unignored } = rules.test(path.slice(base.length));
      if (ignored) return 'ignored';
      if (unignored) return 'kept';
    }
    return 'unsaid';
  }
}

/** Whether a file of this name usually holds a secret. */
export const isSecret = (path: string): boolean => secrets.ignores(path);
