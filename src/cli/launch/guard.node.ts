// Loaded into every child before its own code (`node --import`): ends the child when its launcher is gone. The launcher holds the
// other end of standard input, which even SIGKILL closes.

const GRACE_MS = 1_500

process.stdin.on('error', exit).on('end', exit).on('close', exit).resume()
// Waiting for the launcher must not keep an otherwise idle child alive.
;(process.stdin as { unref?: () => void }).unref?.()

function exit(): void {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), GRACE_MS).unref()
}
