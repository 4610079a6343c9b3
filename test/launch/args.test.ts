import { expect, test } from 'vitest'
import { parseLaunchArgs } from '../../src/launch/args.ts'

test('defaults', () => {
  expect(parseLaunchArgs([], undefined)).toEqual({
    ok: true,
    value: { state: '.weir', reset: false, json: false, port: 8787, devnet: [] },
  })
})

test('everything at once', () => {
  const args = ['--state', 'there', '--reset', '--json', '--seed', '7', '--block-ms', '100']
  expect(parseLaunchArgs(args, '0')).toEqual({
    ok: true,
    value: { state: 'there', reset: true, json: true, port: 0, devnet: ['--seed', '7', '--block-ms', '100'] },
  })
})

test.each([
  [['--state'], undefined, /--state needs a value/],
  [['--seed', 'x'], undefined, /--seed takes a whole number/],
  [['--nope'], undefined, /Unknown option "--nope"/],
  [[], '8787x', /PORT is "8787x"/],
  [[], '65536', /PORT is "65536"/],
  [[], '-1', /PORT is "-1"/],
])('%j with PORT=%s is refused in one sentence', (args, port, sentence) => {
  const parsed = parseLaunchArgs(args, port)
  expect(!parsed.ok && parsed.error).toMatch(sentence)
})
