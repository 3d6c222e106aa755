// Addresses of pages, as programs print them.
import { expect, it } from 'vitest';
import { addressesIn, AddressChoice } from '../../../../src/core/follow/webPage/printedAddress.js';

const textsIn = (line: string): string[] =>
  addressesIn(line).map(({ scheme, port, rest }) => `${scheme} ${port} ${rest}`);

it.each([
  // Jupyter Server 2.21, Gradio 5, Uvicorn, Streamlit, Dask and TensorBoard print such lines.
  ['[I ServerApp] http://127.0.0.1:8888/lab?token=e8356ba8', 'http 8888 /lab?token=e8356ba8'],
  ['* Running on local URL:  http://127.0.0.1:7860', 'http 7860 '],
  ['INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)', 'http 8000 '],
  ['  URL: http://localhost:8501', 'http 8501 '],
  ['Dashboard at: http://127.0.0.1:8787/status', 'http 8787 /status'],
  ['TensorBoard 2.20.0 at http://localhost:6006/ (Press CTRL+C to quit)', 'http 6006 /'],
  ['Serving HTTP on :: port 8000 (http://[::]:8000/) ...', 'http 8000 /'],
  ['\u001b[32mopen \u001b[1mhttps://localhost/a#b\u001b[0m now', 'https 443 /a#b'],
  ['see http://localhost:80.', 'http 80 '],
  ['`http://localhost:8080/`', 'http 8080 /'],
  ['http://127.0.0.1:8888/lab?token=abc\u001b(B\u001b[m', 'http 8888 /lab?token=abc'],
  ['http://127.0.0.1:80/\u001b]0;title\u0007', 'http 80 /'],
  [`http://127.0.0.1:80/${'.'.repeat(9000)}x`, 'http 80 /'],
])('are found in %j', (line, expected) => {
  expect(textsIn(line)).toEqual([expected]);
});

it.each([
  'see https://pytorch.org/docs',
  'http://localhost.example.org:80/',
  'init_method tcp://127.0.0.1:29500',
  'http://127.0.0.1:99999/',
  'http://localhost:123456/a',
  'http://localhost:PORT/',
  'http://127.0.0.1:8000-ready',
  'HTTP Request: POST http://localhost:8000/v1/chat/completions "HTTP/1.1 200 OK"',
  `${'.'.repeat(10_000)} http://localhost:1/`,
  '[W ServerApp] 404 GET /x (127.0.0.1) referer=http://127.0.0.1:8899/lab',
  'INFO: 127.0.0.1:41234 - "GET / HTTP/1.1" 200 OK',
])('are none in %j', (line) => {
  expect(textsIn(line)).toEqual([]);
});

it('the last one with a token counts, else the last one, and of a port those alone', () => {
  const lines = [
    'http://localhost:1/?token=a',
    'http://localhost:2/',
    'http://localhost:1/?token=b',
    'http://localhost:3',
  ];
  const chosen = (port?: number): string => {
    const choice = new AddressChoice(port);
    for (const line of lines) choice.take(line);
    return `${choice.address?.port} ${choice.address?.rest}`;
  };
  expect(chosen()).toBe('1 /?token=b');
  expect(chosen(2)).toBe('2 /');
  expect(chosen(4)).toBe('undefined undefined');
});
