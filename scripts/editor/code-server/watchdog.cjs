// Stands in for @vscode/native-watchdog: an extension host whose server is gone ends itself.
exports.start = (pid) => {
  setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (error.code === 'ESRCH') process.exit(87);
    }
  }, 1000).unref();
};
exports.exit = (code) => process.exit(code || 0);
