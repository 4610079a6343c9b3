import { expect, test } from 'vitest'
import { launchOptions } from '../../../src/cli/launch/args.ts'

test('defaults', () => {
  expect(launchOptions({ state: '.weir' }, {})).toEqual({
    ok: true,
    value: { state: '.weir', stateOption: '', port: 8787, keep: 100, devnet: [] },
  })
})

test('everything at once', () => {
  const args = { state: 'there', reset: true, seed: 7, blockMs: 100, scale: 'mainnet', keep: 7 } as const
  expect(launchOptions(args, { PORT: '0' })).toEqual({
    ok: true,
    value: {
      ...args,
      stateOption: ' --state there',
      port: 0,
      devnet: ['--seed', '7', '--block-ms', '100', '--scale', 'mainnet'],
    },
  })
})

test('a folder of any name is one word in the commands that are shown', () => {
  const shown = (state: string) => {
    const options = launchOptions({ state }, {})
    return options.ok && options.value.stateOption
  }
  expect(shown('my weir')).toBe(" --state 'my weir'")
  expect(shown("it's")).toBe(" --state 'it'\\''s'")
})

test.each(['8787x', '65536', '-1', '0x50', '1e3', ' 80', '080', '8.0', '+80', '８０'])(
  'PORT=%s is refused in one sentence',
  (port) => {
    expect(launchOptions({ state: '.weir' }, { PORT: port })).toEqual({
      ok: false,
      error: `PORT is "${port}": it must be a whole number from 0 to 65535, in digits alone.`,
    })
  },
)

test('variables that the gateway would not take are refused before anything starts', () => {
  expect(launchOptions({ state: '.weir' }, { RPC_CHAINS: '[{' })).toEqual({
    ok: false,
    error: expect.stringMatching(/^RPC_CHAINS is not JSON: .*\.$/),
  })
})
