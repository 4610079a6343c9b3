// Programs of the product as child processes, for tests that kill them.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export interface Program {
  readonly process: ChildProcess
  /** Lines of standard output so far. */
  readonly lines: string[]
  /** The next line (from the first unread on) that a test accepts. */
  line(accepts: (line: string) => boolean, timeoutMs?: number): Promise<string>
  /** The end of standard error so far. */
  errors(): string
  /** Counts every line so far as read. */
  skip(): void
  end(signal?: NodeJS.Signals): Promise<void>
}

/** Starts `node src/<file>` with arguments. */
export function run(file: string, args: readonly string[], env: Record<string, string> = {}): Program {
  return runCommand(process.execPath, [join(ROOT, 'src', file), ...args], env)
}

/** Starts a program; standard error is kept for failures. */
export function runCommand(command: string, args: readonly string[], env: Record<string, string> = {}): Program {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  let rest = ''
  let at = 0
  child.stdout.on('data', (chunk) => {
    rest += chunk
    const parts = rest.split('\n')
    rest = parts.pop()!
    lines.push(...parts)
  })
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4000)))
  return {
    process: child,
    lines,
    async line(accepts, timeoutMs = 30_000) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        while (at < lines.length) {
          const line = lines[at++]!
          if (accepts(line)) return line
        }
        if (Date.now() > deadline || child.exitCode !== null)
          throw new Error(`${args[0]}: no such line (exit ${child.exitCode}); last: ${lines.at(-1)}; errors: ${errors}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    errors: () => errors,
    skip() {
      at = lines.length
    },
    async end(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill(signal)
      await ended
    },
  }
}

/** A folder that is removed by `remove`. */
export function scratch(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'weir-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
