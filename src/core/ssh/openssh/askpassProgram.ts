// What ssh runs to ask something. It is written into a folder of its owner at run time, because ssh
// takes a program only.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Passes the question on and prints the answer; exit 1 where there is none. */
const client = (socket: string, token: string): string => `'use strict';
const question = {
  token: ${JSON.stringify(token)},
  prompt: process.argv[2] ?? '',
  hint: process.env.SSH_ASKPASS_PROMPT ?? '',
};
const socket = require('node:net').connect(${JSON.stringify(socket)});
let reply = '';
process.exitCode = 1;
socket.setEncoding('utf8');
socket.on('data', (text) => (reply += text));
socket.on('error', () => process.exit(1));
socket.on('end', () => {
  if (reply === '') return;
  process.exitCode = 0;
  process.stdout.write(JSON.parse(reply).answer + '\\n');
});
socket.write(JSON.stringify(question) + '\\n');
`;

/** Returns the program's path. An editor's own program is a Node when it is told so. */
export async function writeAskpass(folder: string, socket: string, token: string): Promise<string> {
  const script = join(folder, 'askpass.cjs');
  const program = join(folder, 'askpass');
  await writeFile(script, client(socket, token), { mode: 0o600 });
  const command = [process.execPath, script].map(quoted).join(' ');
  const lines = ['#!/bin/sh', 'unset NODE_OPTIONS', `ELECTRON_RUN_AS_NODE=1 exec ${command} "$@"`, ''];
  await writeFile(program, lines.join('\n'), { mode: 0o700 });
  return program;
}
