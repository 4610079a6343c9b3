import { expect, test } from 'vitest'
import { readArgs } from '../../src/core/command-line.node.ts'
import { LAUNCH_ARGS, launchOptions } from '../../src/launch/args.ts'

const parse = (args: readonly string[], port: string | undefined) => {
  const read = readArgs(args, LAUNCH_ARGS)
  return read.ok ? launchOptions(read.value.values, port) : read
}

test('defaults', () => {
  expect(parse([], undefined)).toEqual({
    ok: true,
    value: { state: '.weir', stateOption: '', reset: false, json: false, port: 8787, devnet: [] },
  })
})

test('everything at once', () => {
  const args = ['--state', 'there', '--reset', '--json', '--seed', '7', '--block-ms', '100']
  expect(parse(args, '0')).toEqual({
    ok: true,
    value: {
      ...{ state: 'there', stateOption: ' --state there', reset: true, json: true, port: 0 },
      devnet: ['--seed', '7', '--block-ms', '100'],
    },
  })
})

test('a folder of any name is one word in the commands that are shown', () => {
  const shown = (state: string) => {
    const parsed = parse(['--state', state], undefined)
    return parsed.ok && parsed.value.stateOption
  }
  expect(shown('my weir')).toBe(" --state 'my weir'")
  expect(shown("it's")).toBe(" --state 'it'\\''s'")
})

test.each<[string[], string | undefined, RegExp]>([
  [['--state'], undefined, /--state needs a value/],
  [['--seed', '0x7'], undefined, /--seed is "0x7": it must be a whole number from 0 to 999999999, in digits alone\./],
  [['--block-ms', '0'], undefined, /--block-ms is "0": it must be a whole number from 1 to 60000/],
  [['--nope'], undefined, /Unknown option "--nope"/],
  [[], '8787x', /PORT is "8787x": it must be a whole number from 0 to 65535, in digits alone\./],
  ...['0x50', '1e3', ' 80', '080', '8.0', '+80', '８０'].map((port): [string[], string, RegExp] => [
    [],
    port,
    /^PORT is /,
  ]),
  [[], '65536', /PORT is "65536"/],
  [[], '-1', /PORT is "-1"/],
])('%j with PORT=%s is refused in one sentence', (args, port, sentence) => {
  const parsed = parse(args, port)
  expect(!parsed.ok && parsed.error).toMatch(sentence)
})
