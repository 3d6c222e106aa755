// Stands in for @vscode/spdlog in the code-server that tests use, so that no compiler is needed: lines go to a file.
const fs = require('node:fs');
const path = require('node:path');

const names = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  /**
   * @param {string} _kind
   * @param {string} _name
   * @param {string} file
   */
  constructor(_kind, _name, file) {
    this.file = file;
    this.level = 2;
    this.bare = false;
  }
  /**
   * @param {number} level
   * @param {string} text
   */
  write(level, text) {
    if (level < this.level) return;
    const head = this.bare
      ? ''
      : `${new Date().toISOString().replace('T', ' ').slice(0, 23)} [${names[level]}] `;
    fs.appendFileSync(this.file, this.bare ? text : `${head}${text}\n`);
  }
  /** @param {string} text */
  trace(text) {
    this.write(0, text);
  }
  /** @param {string} text */
  debug(text) {
    this.write(1, text);
  }
  /** @param {string} text */
  info(text) {
    this.write(2, text);
  }
  /** @param {string} text */
  warn(text) {
    this.write(3, text);
  }
  /** @param {string} text */
  error(text) {
    this.write(4, text);
  }
  /** @param {string} text */
  critical(text) {
    this.write(5, text);
  }
  getLevel() {
    return this.level;
  }
  /** @param {number} level */
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

/**
 * @param {string} name
 * @param {string} file
 */
async function createLogger(name, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  return new Logger('rotating', name, file);
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
