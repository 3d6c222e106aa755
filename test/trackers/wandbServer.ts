// A server that takes what `wandb sync` uploads, and keeps it. It stands in for W&B's, which nobody
// can have offline; what reads the .wandb file is W&B's own program.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';

/** One run as it was uploaded. */
export interface UploadedRun {
  name: string;
  project: string;
  displayName: string;
  notes: string;
  tags: string[];
  config: Record<string, { value: unknown }>;
  /** The lines of its history by their number. */
  history: Map<number, Record<string, number>>;
  summary: Record<string, unknown>;
  exitCode: number | undefined;
}

interface Upsert {
  name: string;
  project?: string | null;
  displayName?: string | null;
  notes?: string | null;
  tags?: string[] | null;
  config?: string | null;
}

interface StreamedFiles {
  files?: Record<string, { offset: number; content: string[] }>;
  exitcode?: number;
}

/** Listens on this machine alone. */
export class WandbServer {
  readonly runs = new Map<string, UploadedRun>();
  /** What came with requests as their `authorization`. */
  readonly logins = new Set<string>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, answer) => {
      this.take(request).then(
        (body) => answer.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
        (error: unknown) => answer.writeHead(500).end(String(error)),
      );
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this.address;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async take(request: IncomingMessage): Promise<object> {
    this.logins.add(request.headers.authorization ?? '');
    const zipped = request.headers['content-encoding'] === 'gzip';
    const body = await text(zipped ? request.pipe(createGunzip()) : request);
    const streamed = /^\/files\/[^/]+\/[^/]+\/([^/]+)\/file_stream$/.exec(request.url ?? '')?.[1];
    if (streamed !== undefined) return this.stream(streamed, JSON.parse(body) as StreamedFiles);
    if (request.url !== '/graphql') return {};
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    if (query.includes('upsertBucket')) return { data: { upsertBucket: this.upsert(variables as never) } };
    if (query.includes('createRunFiles')) {
      const files = (variables['files'] as string[]).map((name) => ({
        name,
        uploadUrl: `${this.address}/put`,
      }));
      return { data: { createRunFiles: { runID: '1', uploadHeaders: [], files } } };
    }
    return { data: {} };
  }

  private upsert({ name, project, displayName, notes, tags, config }: Upsert): object {
    const run = this.runs.get(name) ?? emptyRun(name);
    this.runs.set(name, run);
    run.project = project ?? run.project;
    run.displayName = displayName ?? run.displayName;
    run.notes = notes ?? run.notes;
    run.tags = tags ?? run.tags;
    if (typeof config === 'string') run.config = JSON.parse(config) as UploadedRun['config'];
    const entity = { id: '1', name: 'lab' };
    const bucket = { id: name, name, displayName: run.displayName, description: '', config: null };
    const where = { sweepName: null, historyLineCount: 0, project: { id: '1', name: run.project, entity } };
    return { bucket: { ...bucket, ...where }, inserted: true };
  }

  private stream(name: string, { files = {}, exitcode }: StreamedFiles): object {
    const run = this.runs.get(name);
    if (!run) throw new Error(`${name} was not made`);
    const history = files['wandb-history.jsonl'];
    for (const [index, line] of (history?.content ?? []).entries()) {
      run.history.set((history?.offset ?? 0) + index, JSON.parse(line) as Record<string, number>);
    }
    const summary = files['wandb-summary.json']?.content.at(-1);
    if (summary !== undefined) run.summary = JSON.parse(summary) as Record<string, unknown>;
    run.exitCode = exitcode ?? run.exitCode;
    return {};
  }
}

const emptyRun = (name: string): UploadedRun => ({
  name,
  project: '',
  displayName: '',
  notes: '',
  tags: [],
  config: {},
  history: new Map(),
  summary: {},
  exitCode: undefined,
});
