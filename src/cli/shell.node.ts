// Shared by all commands that use a gateway: finding it, printing results and setting the exit code. Invariants: only results that
// scripts read (a key, JSON, a table) go to standard output, everything else to standard error; the exit code is 0 on success
// and 1 on failure.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import { type AnyCommand, exitOnClosedPipe, program, valueParser } from '../core/command-line.node.ts'
import { ok, type Result } from '../core/result.ts'
import { visibleLines } from '../core/visible.ts'
import { COMMAND_PREFIX, COMMANDS, type CommandName } from './commands.ts'
import { GatewayClient, targetOf } from './gateway.node.ts'
import { DEFAULT_STATE } from './running-file.node.ts'
import { details } from './table.node.ts'
import { UrlValue } from './values.ts'

/** The environment of a command. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>
  now(): number
  wait(ms: number): Promise<unknown>
  print(text: string): void
  /** Prints to standard error. */
  note(text: string): void
  fail(): void
}

/**
 * The result of a command: the response for `--json`, and a string for people. An empty string prints no line, and
 * undefined no JSON.
 */
export interface CommandResult {
  readonly json: unknown
  readonly text: string
  readonly notes?: readonly string[]
  /** The request succeeded, but its result is a failure. */
  readonly isFailure?: boolean
}

/** Wraps a function of a gateway into the action of a command. */
export type CommandAction = <Args extends unknown[]>(
  run: (gateway: GatewayClient, ...args: Args) => Promise<Result<CommandResult, string>>,
) => (...args: Args) => Promise<void>

interface Globals {
  readonly url?: string
  readonly token?: string
  readonly remote?: true
  readonly state: string
  readonly json?: boolean
}

/** A command of `weir`, with `examples` if it has no subcommands. */
export function weirProgram(name: CommandName, examples: readonly string[] = []): Command {
  return program(`${COMMAND_PREFIX} ${name}`, COMMANDS[name], examples)
}

/** A command for a gateway. */
export function gatewayProgram(name: CommandName, examples: readonly string[] = []): Command {
  const command = weirProgram(name, examples)
  command
    .option('--url <url>', 'gateway URL (default: the running "npx weir demo")', valueParser(UrlValue))
    .option(
      '--token <token>',
      'ADMIN_TOKEN of the gateway; prefer the environment variable, which process lists do not show',
    )
    .option('--remote', 'the gateway that "npx weir deploy" made from the current folder')
    .option('--state <dir>', 'state folder of "npx weir demo" or "npx weir serve"', DEFAULT_STATE)
    .option('--json', 'print the response of the gateway as JSON')
  return command
}

export function commandRunner(shell: Shell): CommandAction {
  return (run) =>
    async (...args) => {
      const command = args.at(-1) as AnyCommand
      const globals = command.optsWithGlobals() as Record<string, unknown> & Globals
      const fail = (sentence: string) => {
        shell.note(sentence)
        shell.fail()
      }
      const target = targetOf(globals, shell.env)
      if (!target.ok) return fail(target.error)
      const names = {
        options: command.options.map((option) => option.name()),
        arguments: command.registeredArguments.map((argument) => argument.name()),
      }
      const outcome = await run(new GatewayClient(target.value, names, shell.note), ...args)
      if (!outcome.ok) return fail(outcome.error)
      const { json, text, notes = [], isFailure = false } = outcome.value
      if (globals.json === true && json !== undefined) shell.print(JSON.stringify(json, null, 2))
      else if (text !== '') shell.print(text)
      for (const note of notes) shell.note(note)
      if (isFailure) shell.fail()
    }
}

/** Turns a response into a command result. */
export function toResult<T>(
  answer: Result<T, string>,
  describe: (value: T) => string | Omit<CommandResult, 'json'>,
): Result<CommandResult, string> {
  if (!answer.ok) return answer
  const result = describe(answer.value)
  return ok({ json: answer.value, ...(typeof result === 'string' ? { text: result } : result) })
}

/** Sends one request and prints the response. */
export async function showResponse(
  gateway: GatewayClient,
  method: string,
  path: string,
  body?: object,
): Promise<Result<CommandResult, string>> {
  return toResult(await gateway.request(method, path, [], body), details)
}

/** The shell of this process. */
export function processShell(): Shell {
  exitOnClosedPipe()
  return {
    env: process.env,
    now: Date.now,
    wait: sleep,
    print: (text) => process.stdout.write(`${visibleLines(text)}\n`),
    note: (text) => process.stderr.write(`${visibleLines(text)}\n`),
    fail: () => {
      process.exitCode = 1
    },
  }
}
