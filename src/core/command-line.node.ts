// The command line of every program, read in one way. Law: an option that is not known, has no value or must have none
// is answered by one sentence that names it, and the program ends with 2 before it has done anything.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { err, ok, type Result } from './result.ts'

export interface CommandLine<Options extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: Options }>>['values']
  /** What is no option, in order. */
  readonly words: readonly string[]
}

/** Reads arguments (without `node` and the script); an error is one sentence. */
export function readArgs<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  takes: 'options' | 'words too' = 'options',
): Result<CommandLine<Options>, string> {
  // Not `strict`: its sentences end in advice that is not ours.
  const config = { args: [...args], options, strict: false, allowPositionals: true, tokens: true } as const
  const { values, positionals: words, tokens } = parseArgs(config)
  for (const token of tokens) {
    if (token.kind === 'positional' && takes === 'options')
      return err(`Unexpected argument ${JSON.stringify(token.value)}.`)
    const wrong = token.kind === 'option' ? wrongIn(token, options) : null
    if (wrong !== null) return err(wrong)
  }
  return ok({ values: values as CommandLine<Options>['values'], words })
}

/** The arguments of this program; wrong ones end it. */
export function commandLine<const Options extends ParseArgsOptionsConfig>(
  options: Options,
  usage: string,
  takes: 'options' | 'words too' = 'options',
): CommandLine<Options> {
  const read = readArgs(process.argv.slice(2), options, takes)
  return read.ok ? read.value : refuseArgs(read.error, usage)
}

/** Ends this program because its arguments make no sense. */
export function refuseArgs(sentence: string, usage: string): never {
  process.stderr.write(`${[sentence, usage].filter(Boolean).join('\n')}\n`)
  process.exit(2)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function wrongIn({ name, rawName, value, inlineValue }: OptionToken, options: ParseArgsOptionsConfig): string | null {
  const known = Object.hasOwn(options, name) ? options[name] : undefined
  if (known === undefined) return `Unknown option ${JSON.stringify(rawName)}.`
  if (known.type === 'boolean') return value === undefined ? null : `${rawName} takes no value.`
  // What looks like an option is one, unless it is written as `--name=-value`.
  const isMissing = !value || (inlineValue === false && value.startsWith('-'))
  return isMissing ? `${rawName} needs a value.` : null
}
