// Stands in for @vscode/spdlog in the code-server that tests use, so that no compiler is needed: lines go to a file.
const { appendFileSync, mkdirSync } = require('node:fs');
const { dirname } = require('node:path');

const names = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  constructor(kind, name, path) {
    this.path = path;
    this.level = 2;
    this.bare = false;
  }
  write(level, text) {
    if (level < this.level) return;
    const head = this.bare
      ? ''
      : `${new Date().toISOString().replace('T', ' ').slice(0, 23)} [${names[level]}] `;
    appendFileSync(this.path, this.bare ? text : `${head}${text}\n`);
  }
  trace(text) {
    this.write(0, text);
  }
  debug(text) {
    this.write(1, text);
  }
  info(text) {
    this.write(2, text);
  }
  warn(text) {
    this.write(3, text);
  }
  error(text) {
    this.write(4, text);
  }
  critical(text) {
    this.write(5, text);
  }
  getLevel() {
    return this.level;
  }
  setLevel(level) {
    this.level = level;
  }
  setPattern() {}
  clearFormatters() {
    this.bare = true;
  }
  flush() {}
  drop() {}
}

async function createLogger(name, path) {
  mkdirSync(dirname(path), { recursive: true });
  return new Logger('rotating', name, path);
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
