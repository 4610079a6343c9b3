// Programs of the product as child processes, for tests that read or kill them.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandName } from '../../src/cli/commands.ts'
import { childrenOf } from '../../src/cli/launch/processes.node.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface Program {
  readonly process: ChildProcess
  /** Lines of standard output so far. */
  readonly lines: string[]
  /** The next unread line accepted by the test. */
  line(accepts: (line: string) => boolean, timeoutMs?: number): Promise<string>
  /** The end of standard error so far. */
  errors(): string
  /** All of standard output and standard error so far. */
  log(): string
  /** Marks all lines so far as read. */
  skip(): void
  end(signal?: NodeJS.Signals): Promise<void>
}

/** A gateway of a rehearsal has many isolates, which start one after another. */
const LINE_MS = process.env.REHEARSAL ? 120_000 : 60_000
const LAST_LINES_MS = 1_000

/** The program of `weir`, which takes the name of a command first. */
export const MAIN = join(ROOT, 'src/cli/main.node.ts')

/** Starts `weir <name>` with arguments. */
export function run(name: CommandName, args: readonly string[], env: Record<string, string> = {}): Program {
  return runCommand(process.execPath, [MAIN, name, ...args], env)
}

/** Starts a TypeScript file of the repository. */
export function runFile(file: string, args: readonly string[], env: Record<string, string> = {}): Program {
  return runCommand(process.execPath, [join(ROOT, file), ...args], env)
}

/**
 * Starts a program, by default in the repository root. A detached one leads a process group, which is ended with it.
 * `more.env` replaces the whole environment.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  { detached = false, ...more }: Pick<SpawnOptions, 'detached' | 'cwd' | 'uid' | 'gid' | 'env'> = {},
): Program {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...rehearsed(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
    ...more,
  })
  const lines: string[] = []
  const log: string[] = []
  let errors = ''
  let rest = ''
  let at = 0
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.stdout.on('data', (chunk) => {
    log.push(String(chunk))
    const parts = (rest + chunk).split('\n')
    rest = parts.pop()!
    lines.push(...parts)
  })
  child.stderr.on('data', (chunk) => {
    log.push(String(chunk))
    errors = (errors + chunk).slice(-4000)
  })
  return {
    process: child,
    lines,
    async line(accepts, timeoutMs = LINE_MS) {
      const deadline = Date.now() + timeoutMs
      for (let isLast = false; ; isLast = Date.now() > deadline || isOver()) {
        // What a program says at its end may come after its exit code. Its own programs may keep its output open.
        if (isOver()) await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_LINES_MS))])
        while (at < lines.length) {
          const line = lines[at++]!
          if (accepts(line)) return line
        }
        if (isLast)
          throw new Error(`${args[0]}: no such line (exit ${child.exitCode}); last: ${lines.at(-1)}; errors: ${errors}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    errors: () => errors,
    log: () => log.join(''),
    skip() {
      at = lines.length
    },
    async end(signal = 'SIGTERM') {
      if (isOver()) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (detached) process.kill(-child.pid!, signal)
      else child.kill(signal)
      await ended
    },
  }
}

/** In a rehearsal, programs of the product start its gateway. */
function rehearsed(): Record<string, string> {
  if (!process.env.REHEARSAL) return {}
  const preload = join(ROOT, 'test/rehearsal/preload.node.ts')
  return { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning --import=${preload}` }
}

/** Pid of a child process whose command line contains this text; undefined if there is none. */
export function childOf(parent: number | undefined, name: string): number | undefined {
  return childrenOf(parent ?? 0, name)[0]
}

/**
 * The first of four ports for programs that are killed and restarted on them; outside the ephemeral range. Workers of one
 * run have consecutive process ids.
 */
export const lastingPort = (): number => 20_000 + 4 * (process.pid % 3_000)

/** A temporary folder, deleted by `remove`. */
export function scratch(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'weir-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}
