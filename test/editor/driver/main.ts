// The test driver: an extension of its own, never shipped, that does inside the editor what a test
// outside asks for.
import { renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  extensionId,
  type HostFile,
  type HostTest,
  type Method,
  type Methods,
  type Reply,
  type Request,
  type TaskEnd,
} from './protocol.js';

type Handlers = {
  [M in Method]: (params: Methods[M]['params']) => Methods[M]['result'] | Thenable<Methods[M]['result']>;
};

interface OurApi {
  snapshot(): Promise<unknown>;
}

function ours(): vscode.Extension<OurApi | undefined> {
  const extension = vscode.extensions.getExtension<OurApi | undefined>(extensionId);
  if (!extension) throw new Error(`${extensionId} is not installed here`);
  return extension;
}

const handlersOf = (ended: readonly TaskEnd[]): Handlers => ({
  command: ({ id, args = [] }) => vscode.commands.executeCommand(id, ...args),
  commands: () => vscode.commands.getCommands(true),
  isActive: () => ours().isActive,
  activate: async () => {
    const extension = ours();
    const wasActive = extension.isActive;
    const started = performance.now();
    await extension.activate();
    return { ms: performance.now() - started, wasActive };
  },
  snapshot: async () => (await ours().activate())?.snapshot(),
  tabs: () =>
    vscode.window.tabGroups.all.flatMap((group) =>
      group.tabs.map(({ label, isActive }) => {
        return { label, active: isActive, focused: group.isActive, column: group.viewColumn };
      }),
    ),
  tasks: () => [...ended],
  setting: async ({ key, value }) => {
    await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
    return null;
  },
  suite: ({ bundle }) => (createRequire(bundle)(bundle) as { run: () => Promise<HostTest[]> }).run(),
});

async function answer(handlers: Handlers, line: string): Promise<Reply> {
  try {
    const { method, params } = JSON.parse(line) as Request;
    const handle = handlers[method] as ((params: unknown) => unknown) | undefined;
    if (!handle) return { error: `the driver has no method '${method}'` };
    return { result: (await handle(params)) ?? null };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function serve(handlers: Handlers, socket: Socket): void {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.endsWith('\n'))
      void answer(handlers, text).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
  });
}

export function activate(context: vscode.ExtensionContext): void {
  const folder = process.env['TRAINYARD_TEST_DRIVER'];
  if (folder === undefined) return;
  const host: HostFile = { pid: process.pid, socket: join(folder, `${process.pid}.sock`) };
  const ended: TaskEnd[] = [];
  const noting = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
    ended.push({ name: execution.task.name, code: exitCode });
  });
  const handlers = handlersOf(ended);
  const serving = (socket: Socket): void => {
    serve(handlers, socket);
  };
  const server = createServer(serving).listen(host.socket, () => {
    // By rename and under a name for each host: after a reload the old one may still be ending.
    writeFileSync(`${host.socket}.json`, JSON.stringify(host));
    renameSync(`${host.socket}.json`, join(folder, 'host.json'));
  });
  context.subscriptions.push(noting, { dispose: () => server.close() });
}
