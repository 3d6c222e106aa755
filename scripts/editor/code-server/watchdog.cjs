// Stands in for @vscode/native-watchdog: an extension host whose server is gone ends itself.
/** @param {number} pid */
exports.start = (pid) => {
  setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ESRCH') process.exit(87);
    }
  }, 1000).unref();
};
/** @param {number} [code] */
exports.exit = (code) => process.exit(code || 0);
