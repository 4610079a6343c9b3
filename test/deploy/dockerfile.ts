// Reads the Dockerfile: its stages, and how its image runs a command.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../kit/program.ts'

export const DEPLOY = join(ROOT, 'deploy')

/** Name and arguments of each instruction; continued lines are joined. */
type Instruction = readonly [name: string, text: string]

interface Stage {
  readonly from: string
  readonly instructions: readonly Instruction[]
}

export interface Image {
  readonly args: Readonly<Record<string, string>>
  readonly stages: readonly Stage[]
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly health: readonly string[]
  /** Arguments of an instruction in the last stage; empty if it is absent. */
  readonly last: (name: string) => string
}

export function readImage(): Image {
  const text = readFileSync(join(DEPLOY, 'container/Dockerfile'), 'utf8')
  const instructions = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line): Instruction[] => {
      const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return name === undefined || rest === undefined ? [] : [[name, rest]]
    })
  const args = Object.fromEntries(
    instructions.filter(([name, rest]) => name === 'ARG' && rest.includes('=')).map(([, rest]) => pair(rest)),
  )
  const starts = instructions.flatMap(([name], at) => (name === 'FROM' ? [at] : []))
  const stages = starts.map((start, i) => ({
    from: expanded(instructions[start]![1].split(' ')[0]!, args),
    instructions: instructions.slice(start + 1, starts[i + 1]),
  }))
  const last = (name: string) => stages.at(-1)!.instructions.findLast(([one]) => one === name)?.[1] ?? ''
  return {
    args,
    stages,
    env: Object.fromEntries(last('ENV').split(/\s+/).map(pair)),
    user: last('USER'),
    entrypoint: JSON.parse(last('ENTRYPOINT')) as string[],
    command: JSON.parse(last('CMD')) as string[],
    health: JSON.parse(/CMD (\[.*\])$/.exec(last('HEALTHCHECK'))![1]!) as string[],
    last,
  }
}

const pair = (text: string) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)] as const

export const expanded = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
