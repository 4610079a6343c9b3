// The command line of every program: commander, set up in one way. Laws: a command line that makes no sense is answered
// by a sentence and the usage of that command alone, on standard error, and the program ends with 2 before it has done
// anything; help goes to standard output and ends with 0; whoever reads our output may stop reading at any time.

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

/** Of a variable of the shell that is not set. */
const NonEmpty = z.string().min(1, 'must not be empty')
/** Otherwise an option whose value was forgotten would eat the next one. */
const OptionValue = NonEmpty.regex(/^(?!--)/, 'is an option: give the value first')

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

/** A program under the name that starts it (`npm run keys --`). Examples are what follows; commands have their own. */
export function program(name: string, description: string, examples: readonly string[] = []): Command {
  const command = new ProgramCommand(name).exitOverride().configureHelp({ showGlobalOptions: true })
  command.configureOutput({ outputError: (text, write) => write(visibleLines(text)) })
  return describeCommand(command as Command, description, examples)
}

/** Says what a command does and how it is called; each of the examples is what follows the command's own name. */
export function describeCommand<C extends CommandUnknownOpts>(
  command: C,
  description: string,
  examples: readonly string[] = [],
): C {
  if (examples.length > 0) EXAMPLES.set(command, examples)
  command.description(description).addHelpText('after', () => `\nExamples:\n  ${examplesOf(command).join('\n  ')}`)
  return command
}

/** Says below refusals of the command's line that match what was probably meant. */
export function withHint<C extends CommandUnknownOpts>(command: C, refusal: RegExp, hint: string): C {
  HINTS.set(command, [refusal, hint])
  return command
}

/** Whole lines to copy; those of a group are the first of each of its commands. */
export function examplesOf(command: CommandUnknownOpts): string[] {
  const own = EXAMPLES.get(command)
  if (own === undefined) return command.commands.flatMap((each) => examplesOf(each).slice(0, 1))
  return own.map((example) => `${pathOf(command)} ${example}`.replace(/( --)? $/, ''))
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** How commander reads a value; the schema's messages say what it must be. */
export function valueParser<T>(schema: z.ZodType<T>): (text: string) => T {
  return (text) => {
    const read = schema.safeParse(text)
    if (!read.success) throw new InvalidArgumentError(`It ${read.error.issues[0]?.message}.`)
    return read.data
  }
}

/** The line of a program without commands; a wrong one, or a question for help, ends the program. */
export function commandLine<C extends CommandUnknownOpts>(command: C): C {
  exitOnClosedPipe()
  try {
    return command.parse(effectiveArguments(command, process.argv.slice(2)), { from: 'user' }) as C
  } catch (error) {
    return process.exit(exitCodeOf(error))
  }
}

/** Runs the command of this line; a wrong one, or a question for help, sets the exit code and runs nothing. */
export async function runProgram(command: CommandUnknownOpts, line: readonly string[]): Promise<void> {
  try {
    await command.parseAsync(effectiveArguments(command, line), { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

/** Ends this program because its line, which commander took, makes no sense. */
export function failUsage(command: CommandUnknownOpts, sentence: string): never {
  try {
    return command.error(`error: ${sentence}`)
  } catch (error) {
    return process.exit(exitCodeOf(error))
  }
}

/** `help account grant` asks as `account grant --help` does. A line that npm cut short is refused. */
function effectiveArguments(command: CommandUnknownOpts, line: readonly string[]): string[] {
  const kept = optionsTakenByNpm(command.name(), optionsOf(command), process.env, npmSettings()).map(
    (name) => `--${name}`,
  )
  if (kept.length > 0) {
    const name = command.name().replace(/( --)?$/, ' --')
    command.error(`error: npm kept ${kept.join(', ')} for itself: put -- before the options, as in "${name} …"`)
  }
  return line[0] === 'help' ? [...line.slice(1), '--help'] : [...line]
}

function optionsOf(command: CommandUnknownOpts): string[] {
  const names = [...command.options.map((option) => option.name()), ...command.commands.flatMap(optionsOf)]
  return [...new Set(names)]
}

/** The files of settings that npm read before it started this program. */
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

/** A reader that has seen enough, such as `head`, closes the pipe. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}
