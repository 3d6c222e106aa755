// Conditions of packages (PEP 508, with the names that lock files add: PEP 751).
import { isVersion, satisfies } from './versions.js';

interface Operand {
  /** Of a variable, whose value a Python has; or of a text between quotes. */
  kind: 'variable' | 'text';
  value: string;
}

/** A condition, taken apart. */
export type Marker =
  | { kind: 'and' | 'or'; parts: Marker[] }
  | { kind: 'compare'; left: Operand; operator: string; right: Operand };

const token = /\s*(?:([()])|(<=|>=|===|==|!=|~=|<|>)|'([^'\r\n]*)'|"([^"\r\n]*)"|([a-z_]+))/y;
/** Deeper ones are none that somebody means. */
const deepest = 50;

interface Token {
  kind: 'bracket' | 'operator' | 'text' | 'word';
  value: string;
}

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  const trimmed = text.trim();
  while (token.lastIndex < trimmed.length) {
    const found = token.exec(trimmed);
    if (!found) return undefined;
    const [, bracket, operator, single, double, word] = found;
    const quoted = single ?? double;
    if (bracket !== undefined) tokens.push({ kind: 'bracket', value: bracket });
    else if (operator !== undefined) tokens.push({ kind: 'operator', value: operator });
    else if (quoted !== undefined) tokens.push({ kind: 'text', value: quoted });
    else tokens.push({ kind: 'word', value: word ?? '' });
  }
  return tokens;
}

/** Undefined for what is no condition. */
export function parseMarker(text: string): Marker | undefined {
  const tokens = tokensOf(text);
  if (!tokens) return undefined;
  const parser = new Parser(tokens);
  const marker = parser.any(0);
  return parser.isDone() ? marker : undefined;
}

class Parser {
  private at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  isDone(): boolean {
    return this.at === this.tokens.length;
  }

  any(depth: number): Marker | undefined {
    return this.parts('or', () => this.all(depth));
  }

  private all(depth: number): Marker | undefined {
    return this.parts('and', () => this.one(depth));
  }

  private parts(kind: 'and' | 'or', part: () => Marker | undefined): Marker | undefined {
    const parts = [part()];
    while (this.take('word', kind)) parts.push(part());
    const known = parts.filter((one) => one !== undefined);
    if (known.length < parts.length) return undefined;
    return known.length === 1 ? known[0] : { kind, parts: known };
  }

  private one(depth: number): Marker | undefined {
    if (this.take('bracket', '(')) {
      const inner = depth < deepest ? this.any(depth + 1) : undefined;
      return this.take('bracket', ')') ? inner : undefined;
    }
    const left = this.operand();
    const operator = this.operator();
    const right = this.operand();
    return left && operator !== undefined && right ? { kind: 'compare', left, operator, right } : undefined;
  }

  private operand(): Operand | undefined {
    const { kind, value } = this.tokens[this.at] ?? { kind: 'bracket', value: '' };
    this.at += 1;
    if (kind === 'text') return { kind, value };
    return kind === 'word' && variables.has(value) ? { kind: 'variable', value } : undefined;
  }

  private operator(): string | undefined {
    const next = this.tokens[this.at];
    if (next?.kind === 'operator') {
      this.at += 1;
      return next.value;
    }
    if (this.take('word', 'in')) return 'in';
    return this.take('word', 'not') && this.take('word', 'in') ? 'not in' : undefined;
  }

  private take(kind: Token['kind'], value: string): boolean {
    const next = this.tokens[this.at];
    const isIt = next?.kind === kind && next.value === value;
    if (isIt) this.at += 1;
    return isIt;
  }
}

/** Of PEP 508, and of lock files. */
const variables = new Set([
  ...['python_version', 'python_full_version', 'os_name', 'sys_platform', 'platform_release'],
  ...['platform_system', 'platform_version', 'platform_machine', 'platform_python_implementation'],
  ...['implementation_name', 'implementation_version', 'extra', 'extras', 'dependency_groups'],
]);

/** Which values of a lock file's own names are chosen: `'gpu' in extras`. */
export interface Chosen {
  extras: readonly string[];
  dependency_groups: readonly string[];
}

const isChoice = (name: string): name is keyof Chosen => name === 'extras' || name === 'dependency_groups';

/**
 * What is left of a condition once the names of lock files are decided, since pip does not know
 * them. Undefined where one of them stands in another way than `'NAME' in extras`.
 */
export function decided(marker: Marker, chosen: Chosen): Marker | boolean | undefined {
  if (marker.kind === 'compare') return decidedChoice(marker, chosen);
  const parts = marker.parts.map((part) => decided(part, chosen));
  if (parts.includes(undefined)) return undefined;
  const isOver = marker.kind === 'or';
  if (parts.includes(isOver)) return isOver;
  const left = parts.filter((part) => typeof part === 'object');
  const [first] = left;
  if (!first) return !isOver;
  return left.length === 1 ? first : { kind: marker.kind, parts: left };
}

function decidedChoice(
  marker: Extract<Marker, { kind: 'compare' }>,
  chosen: Chosen,
): Marker | boolean | undefined {
  const { left, operator, right } = marker;
  const names = [left, right].filter(({ kind }) => kind === 'variable').map(({ value }) => value);
  if (!names.some((name) => isChoice(name) || name === 'extra')) return marker;
  const { value } = right;
  if (left.kind !== 'text' || right.kind !== 'variable' || !isChoice(value)) return undefined;
  if (operator !== 'in' && operator !== 'not in') return undefined;
  return chosen[value].includes(left.value) === (operator === 'in');
}

/** As pip reads it. */
export function markerText(marker: Marker): string {
  if (marker.kind === 'compare') {
    return `${operandText(marker.left)} ${marker.operator} ${operandText(marker.right)}`;
  }
  const texts = marker.parts.map((part) =>
    part.kind === 'compare' ? markerText(part) : `(${markerText(part)})`,
  );
  return texts.join(` ${marker.kind} `);
}

const operandText = ({ kind, value }: Operand): string => {
  if (kind === 'variable') return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
};

/** Whether a condition holds for the Python that has these values. */
export function holds(marker: Marker, values: Readonly<Record<string, string>>): boolean {
  if (marker.kind !== 'compare') {
    const { kind, parts } = marker;
    return kind === 'and'
      ? parts.every((part) => holds(part, values))
      : parts.some((part) => holds(part, values));
  }
  const valueOf = ({ kind, value }: Operand): string => (kind === 'text' ? value : (values[value] ?? ''));
  return compared(valueOf(marker.left), marker.operator, valueOf(marker.right));
}

function compared(left: string, operator: string, right: string): boolean {
  if (operator === 'in') return right.includes(left);
  if (operator === 'not in') return !right.includes(left);
  const asVersions = isVersion(left) ? satisfies(left, `${operator}${right}`) : undefined;
  if (asVersions !== undefined) return asVersions;
  const answers: Readonly<Record<string, boolean>> = {
    '==': left === right,
    '===': left === right,
    '!=': left !== right,
    '<': left < right,
    '<=': left <= right,
    '>': left > right,
    '>=': left >= right,
  };
  return answers[operator] ?? false;
}
