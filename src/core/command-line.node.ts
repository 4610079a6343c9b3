// The commander setup that all programs share. Invariants: for an invalid command line, a program prints an error
// message and the command's usage to stderr, does nothing else and exits with 2; help is printed to stdout, and the
// program exits with 0; a reader may close the pipe at any time.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Argument,
  Command,
  CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  type Option,
} from '@commander-js/extra-typings'
import * as z from 'zod'
import { optionsTakenByNpm } from './npm-options.ts'
import { visibleLines } from './visible.ts'

export type { CommandUnknownOpts as AnyCommand } from '@commander-js/extra-typings'

/** Rejects empty arguments. A quoted shell variable that is not set expands to an empty argument. */
const NonEmpty = z.string().min(1, 'must not be empty')
/**
 * Rejects a value that starts with `--`. Otherwise an option whose value was forgotten would consume the next option.
 */
const OptionValue = NonEmpty.regex(/^(?!--)/, 'looks like an option, so the value is missing')

const HINTS = new WeakMap<CommandUnknownOpts, readonly [refusal: RegExp, hint: string]>()
const EXAMPLES = new WeakMap<CommandUnknownOpts, readonly string[]>()

class ProgramCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProgramCommand(name) as Command
  }

  override createOption<Flags extends string>(flags: Flags, description?: string): Option<Flags> {
    const option = super.createOption(flags, description)
    return option.required ? option.argParser(valueParser(OptionValue)) : option
  }

  override createArgument(name: string, description?: string): Argument<string> {
    const argument = super.createArgument(name, description) as Argument<string>
    const some = (text: string, before: readonly string[] = []) => {
      const word = valueParser(NonEmpty)(text)
      return argument.variadic ? [...before, word] : word
    }
    return argument.argParser(some as never)
  }

  override error(message: string, options?: Parameters<Command['error']>[1]): never {
    const isGroup = this.commands.length > 0
    const usage = isGroup ? this.helpInformation() : `Usage: ${this.createHelp().commandUsage(this)}\nMore: --help`
    const [refusal, hint] = HINTS.get(this as CommandUnknownOpts) ?? []
    const more = refusal?.test(message) ? `\n(${hint})` : ''
    return super.error(`${message}${more}\n\n${usage.trimEnd()}`, { ...options, exitCode: 2 })
  }
}

/**
 * Creates a program. `name`: the command that starts it, such as `npx weir keys`. `examples`: the arguments of
 * example command lines. Subcommands have their own examples.
 */
export function program(name: string, description: string, examples: readonly string[] = []): Command {
  const command = new ProgramCommand(name).exitOverride().configureHelp({ showGlobalOptions: true })
  command.configureOutput({ outputError: (text, write) => write(visibleLines(text)) })
  return describeCommand(command as Command, description, examples)
}

/** Sets the description of a command. Each example contains the arguments after the command name. */
export function describeCommand<C extends CommandUnknownOpts>(
  command: C,
  description: string,
  examples: readonly string[] = [],
): C {
  if (examples.length > 0) EXAMPLES.set(command, examples)
  command.description(description).addHelpText('after', () => `\nExamples:\n  ${examplesOf(command).join('\n  ')}`)
  return command
}

/** Adds a hint to errors that match `refusal`. */
export function withHint<C extends CommandUnknownOpts>(command: C, refusal: RegExp, hint: string): C {
  HINTS.set(command, [refusal, hint])
  return command
}

/** The complete example command lines. For a group, these are the first examples of its subcommands. */
export function examplesOf(command: CommandUnknownOpts): string[] {
  const own = EXAMPLES.get(command)
  if (own === undefined) return command.commands.flatMap((each) => examplesOf(each).slice(0, 1))
  return own.map((example) => `${pathOf(command)} ${example}`.replace(/( --)? $/, ''))
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** Turns a schema into a parser for commander. The schema's message says what the value must be. */
export function valueParser<T>(schema: z.ZodType<T>): (text: string) => T {
  return (text) => {
    const read = schema.safeParse(text)
    if (!read.success) throw new InvalidArgumentError(`It ${read.error.issues[0]?.message}.`)
    return read.data
  }
}

/** Parses the command line of a program that has no subcommands. Exits after errors and after help. */
export function commandLine<C extends CommandUnknownOpts>(command: C): C {
  exitOnClosedPipe()
  try {
    return command.parse(effectiveArguments(command, process.argv.slice(2)), { from: 'user' }) as C
  } catch (error) {
    return process.exit(exitCodeOf(error))
  }
}

/** Runs the selected subcommand. After errors and help, it only sets the exit code. */
export async function runProgram(command: CommandUnknownOpts, line: readonly string[]): Promise<void> {
  try {
    await command.parseAsync(effectiveArguments(command, line), { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

/** Exits with a usage error that commander did not detect. */
export function failUsage(command: CommandUnknownOpts, message: string): never {
  try {
    return command.error(`error: ${message}`)
  } catch (error) {
    return process.exit(exitCodeOf(error))
  }
}

/** Treats `help account grant` as `account grant --help`. Fails if npm consumed options of this program. */
function effectiveArguments(command: CommandUnknownOpts, line: readonly string[]): string[] {
  const kept = optionsTakenByNpm(command.name(), optionsOf(command), process.env, npmSettings()).map(
    (name) => `--${name}`,
  )
  if (kept.length > 0) {
    const name = command.name().replace(/( --)?$/, ' --')
    command.error(`error: npm consumed ${kept.join(', ')}. Put -- before the options, as in "${name} …"`)
  }
  return line[0] === 'help' ? [...line.slice(1), '--help'] : [...line]
}

function optionsOf(command: CommandUnknownOpts): string[] {
  const names = [...command.options.map((option) => option.name()), ...command.commands.flatMap(optionsOf)]
  return [...new Set(names)]
}

/** The content of all npm configuration files that apply. */
function npmSettings(): string {
  const { npm_config_userconfig: user, npm_config_globalconfig: all, npm_config_local_prefix: project } = process.env
  const paths = [user, all, project && join(project, '.npmrc')].filter((path) => path !== undefined)
  return paths.map(textAt).join('\n')
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function exitCodeOf(error: unknown): number {
  if (!(error instanceof CommanderError)) throw error
  return error.exitCode === 0 ? 0 : 2
}

/** Exits without an error if a reader, such as `head`, closes the pipe early. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}
