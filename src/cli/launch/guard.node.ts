// Loaded into every child before its own code (`node --import`): a child whose launcher is gone ends by itself.
// The launcher holds the other end of standard input, and even SIGKILL closes it.

const GRACE_MS = 1_500

process.stdin.on('error', exit).on('end', exit).on('close', exit).resume()
// Waiting for the launcher's end must not keep a child alive that has nothing else to do.
;(process.stdin as { unref?: () => void }).unref?.()

function exit(): void {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), GRACE_MS).unref()
}
