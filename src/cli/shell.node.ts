// What every command on a running gateway shares: where it is, how answers are printed, how the command ends. Laws: what
// a script reads (a key, JSON, a table) stands on standard output alone, all else on standard error; exit code 0: done,
// 1: refused or failed.

import type { Command } from '@commander-js/extra-typings'
import { type AnyCommand, exitOnClosedPipe, program, valueParser } from '../core/command-line.node.ts'
import { ok, type Result } from '../core/result.ts'
import { visibleLines } from '../core/visible.ts'
import { DEFAULT_STATE } from './dev-file.node.ts'
import { GatewayClient, targetOf } from './gateway.node.ts'
import { details } from './table.node.ts'
import { UrlValue } from './values.ts'

/** What a command needs of the process that runs it. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>
  now(): number
  print(text: string): void
  /** To standard error. */
  note(text: string): void
  fail(): void
}

/** What came of a command: the gateway's answer for `--json`, and its text for people; no text, no line. */
export interface CommandResult {
  readonly json: unknown
  readonly text: string
  readonly notes?: readonly string[]
  /** It was answered, and yet is no success. */
  readonly isFailure?: boolean
}

/** Makes a command's function of one that is given a gateway and answers what came of it. */
export type CommandAction = <Words extends unknown[]>(
  run: (gateway: GatewayClient, ...words: Words) => Promise<Result<CommandResult, string>>,
) => (...words: Words) => Promise<void>

interface Globals {
  readonly url?: string
  readonly token?: string
  readonly state: string
  readonly json?: boolean
}

/** A program of commands on a gateway, or with `examples` of one. */
export function gatewayProgram(name: string, does: string, examples: readonly string[] = []): Command {
  const command = program(name, does, examples)
  command
    .option('--url <url>', 'the gateway; without it the one that "npm start" runs', valueParser(UrlValue))
    .option('--token <token>', 'its ADMIN_TOKEN; better in the environment, where process lists do not show it')
    .option('--state <dir>', 'state folder of "npm start"', DEFAULT_STATE)
    .option('--json', "print the gateway's own answer")
  return command
}

/** How the commands of this shell are run. */
export function commandRunner(shell: Shell): CommandAction {
  return (run) =>
    async (...words) => {
      const command = words.at(-1) as AnyCommand
      const globals = command.optsWithGlobals() as Record<string, unknown> & Globals
      const fail = (sentence: string) => {
        shell.note(sentence)
        shell.fail()
      }
      const target = targetOf(globals, shell.env)
      if (!target.ok) return fail(target.error)
      const taken = {
        options: command.options.map((option) => option.name()),
        arguments: command.registeredArguments.map((word) => word.name()),
      }
      const outcome = await run(new GatewayClient(target.value, taken, shell.note), ...words)
      if (!outcome.ok) return fail(outcome.error)
      const { json, text, notes = [], isFailure = false } = outcome.value
      if (globals.json === true) shell.print(JSON.stringify(json, null, 2))
      else if (text !== '') shell.print(text)
      for (const note of notes) shell.note(note)
      if (isFailure) shell.fail()
    }
}

/** What came of a call: its text, or what else is to be said of it. */
export function toResult<T>(
  answer: Result<T, string>,
  say: (value: T) => string | Omit<CommandResult, 'json'>,
): Result<CommandResult, string> {
  if (!answer.ok) return answer
  const said = say(answer.value)
  return ok({ json: answer.value, ...(typeof said === 'string' ? { text: said } : said) })
}

/** One call whose answer is shown as it is. */
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
    print: (text) => process.stdout.write(`${visibleLines(text)}\n`),
    note: (text) => process.stderr.write(`${visibleLines(text)}\n`),
    fail: () => {
      process.exitCode = 1
    },
  }
}
