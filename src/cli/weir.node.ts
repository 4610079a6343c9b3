// `weir <command> …`: one command line for everything. Invariants: only the chosen command is loaded, because some take a
// second; an unknown command runs nothing, prints the nearest one and exits with 2.

import { type AnyCommand, program, runProgram } from '../core/command-line.node.ts'
import { COMMAND_PREFIX, COMMANDS, type CommandName } from './commands.ts'
import type { Build } from './launch/demo.node.ts'
import { processShell, type Shell } from './shell.node.ts'
import { WEIR_VERSION } from './version.node.ts'

type Load = (shell: Shell, build: Build) => Promise<AnyCommand>

const LOADERS: Readonly<Record<CommandName, Load>> = {
  demo: async (_, build) => (await import('./launch/demo.node.ts')).demoProgram(build),
  serve: async (shell, build) => (await import('./serve/serve.node.ts')).serveProgram(shell, build),
  backup: async (shell) => (await import('./serve/backup.node.ts')).backupProgram(shell),
  restore: async (shell) => (await import('./serve/restore.node.ts')).restoreProgram(shell),
  export: async (shell) => (await import('./export.node.ts')).exportProgram(shell),
  import: async (shell) => (await import('./import.node.ts')).importProgram(shell),
  deploy: async (shell, build) => (await import('./deploy/deploy.node.ts')).deployProgram(shell, build),
  feed: async () => (await import('../feeder/feed.node.ts')).feedProgram(`${COMMAND_PREFIX} feed`),
  doctor: async (shell) => (await import('./doctor/doctor.node.ts')).doctorProgram(shell),
  keys: async (shell) => (await import('./keys.node.ts')).keysProgram(shell),
  admin: async (shell) => (await import('./admin.node.ts')).adminProgram(shell),
  backfill: async (shell) => (await import('./backfill.node.ts')).backfillProgram(shell),
  repair: async (shell) => (await import('./repair.node.ts')).repairProgram(shell, endSignal()),
  books: async (shell) => (await import('./books.node.ts')).booksProgram(shell),
  watch: async (shell) => (await import('./watch.node.ts')).watchProgram(shell),
  pay: async (shell) => (await import('./pay.node.ts')).payProgram(shell),
  replay: async (shell) => (await import('./replay.node.ts')).replayProgram(shell),
  devnet: async () => (await import('../devnet/devnet.node.ts')).devnetProgram(`${COMMAND_PREFIX} devnet`),
  completion: async (shell) => (await import('./completion.node.ts')).completionProgram(shell, loadAll),
}

/** Runs a command line. `build`: updates the built Workers, in the repository. */
export async function weir(line: readonly string[], build: Build = async () => false): Promise<void> {
  const [name = '', ...rest] = line[0] === 'help' ? [...line.slice(1), '--help'] : line
  const shell = processShell()
  if (isCommand(name)) return runProgram(await LOADERS[name](shell, build), rest)
  return runProgram(overview(), line)
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(LOADERS, name)

/** All commands, for the completion of shells. */
function loadAll(shell: Shell): Promise<AnyCommand[]> {
  return Promise.all(Object.values(LOADERS).map((load) => load(shell, async () => false)))
}

/** The help, and the refusal of a command that does not exist. */
function overview(): AnyCommand {
  const all = program(COMMAND_PREFIX, 'a metered data API in front of an exchange node', [
    'demo',
    'keys create --label mine',
    'watch BTC',
  ])
  for (const [command, does] of Object.entries(COMMANDS)) all.command(command).description(does)
  return all.version(WEIR_VERSION)
}

/** Aborted by the first signal that ends the process. */
function endSignal(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())
  return ending.signal
}
