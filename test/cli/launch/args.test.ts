import { expect, test } from 'vitest'
import { gatewayVariables, launchOptions } from '../../../src/cli/launch/args.ts'

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

test('a folder with any name is quoted as one word in displayed commands', () => {
  const shown = (state: string) => {
    const options = launchOptions({ state }, {})
    return options.ok && options.value.stateOption
  }
  expect(shown('my weir')).toBe(" --state 'my weir'")
  expect(shown("it's")).toBe(" --state 'it'\\''s'")
})

test.each(['8787x', '65536', '-1', '0x50', '1e3', ' 80', '080', '8.0', '+80', '８０'])('rejects PORT=%s', (port) => {
  expect(launchOptions({ state: '.weir' }, { PORT: port })).toEqual({
    ok: false,
    error: expect.stringContaining(`PORT is "${port}"`),
  })
})

test('variables that the gateway would reject are rejected before anything starts', () => {
  expect(launchOptions({ state: '.weir' }, { RPC_CHAINS: '[{' })).toEqual({
    ok: false,
    error: expect.stringMatching(/^RPC_CHAINS is not JSON: .*\.$/),
  })
})

const NODE = 'http://127.0.0.1:3001'
const CHAINS = JSON.stringify([{ name: 'mine', urls: ['http://127.0.0.1:8545'] }])

const of = (environment: NodeJS.ProcessEnv) => gatewayVariables(environment, NODE, '7')

test('the simulated exchange is the node of both Workers unless the environment overrides it', () => {
  for (const environment of [{}, { RPC_CHAINS: '', PIPELINE_PRIVATE: '', TRUST_PROXY: '' }]) {
    const chains = JSON.stringify([{ name: 'hyperliquid', urls: [`${NODE}/evm`] }])
    expect(of(environment)).toEqual({
      ok: true,
      value: {
        vars: {
          PATH_KEYS: 'on',
          TRUST_PROXY: 'off',
          PIPELINE_PRIVATE: 'on',
          RPC_CHAINS: chains,
          X402: expect.any(String),
          LIVE_ACCOUNT: 'live',
          CHECKOUT: 'manual',
          CHECKOUT_PRICES: expect.any(String),
          INVOICE: expect.any(String),
          SIGNUP: 'log',
          UPSTREAMS: JSON.stringify([{ name: 'node', url: `${NODE}/info` }]),
        },
        objectVars: { ARCHIVE_KEEP_MB: '7', PIPELINE_PRIVATE: 'on', RPC_CHAINS: chains, X402: expect.any(String) },
      },
    })
  }
})

test('the environment overrides defaults in both Workers', () => {
  const said = { PIPELINE_PRIVATE: 'off', RPC_CHAINS: CHAINS }
  expect(of({ ...said, TRUST_PROXY: 'on' })).toMatchObject({
    value: { vars: { ...said, TRUST_PROXY: 'on' }, objectVars: said },
  })
})

test.each([
  [{ RPC_CHAINS: '[{"name":"mine"' }, /^RPC_CHAINS is not JSON: expected a list such as \[/],
  [{ RPC_CHAINS: '[{"name":"mine","urls":["ftp://x"]}]' }, /^RPC_CHAINS 0\.urls\.0: /],
  [{ PIPELINE_PRIVATE: 'yes' }, /^PIPELINE_PRIVATE must be "on" or "off"$/],
  [{ TRUST_PROXY: 'On' }, /^TRUST_PROXY must be "on" or "off"$/],
])('%j is rejected with one message', (environment, sentence) => {
  expect(of(environment)).toEqual({ ok: false, error: expect.stringMatching(sentence) })
})
