import { expect, test } from 'vitest'
import { gatewayVariables } from '../../../src/cli/launch/gateway-variables.ts'

const NODE = 'http://127.0.0.1:3001'
const CHAINS = JSON.stringify([{ name: 'mine', urls: ['http://127.0.0.1:8545'] }])

const of = (environment: NodeJS.ProcessEnv) => gatewayVariables(environment, NODE, '7')

test('the simulated exchange is the node of both Workers where the environment says nothing', () => {
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
          LIVE_ACCOUNT: 'live',
          CHECKOUT: 'manual',
          CHECKOUT_PRICES: expect.any(String),
          SIGNUP: 'log',
          UPSTREAMS: JSON.stringify([{ name: 'node', url: `${NODE}/info` }]),
        },
        liveVars: { ARCHIVE_KEEP_MB: '7', PIPELINE_PRIVATE: 'on', RPC_CHAINS: chains },
      },
    })
  }
})

test('what the environment says wins, in both Workers', () => {
  const said = { PIPELINE_PRIVATE: 'off', RPC_CHAINS: CHAINS }
  expect(of({ ...said, TRUST_PROXY: 'on' })).toMatchObject({
    value: { vars: { ...said, TRUST_PROXY: 'on' }, liveVars: said },
  })
})

test.each([
  [{ RPC_CHAINS: '[{"name":"mine"' }, /^RPC_CHAINS is not JSON: expected a list such as \[/],
  [{ RPC_CHAINS: '[{"name":"mine","urls":["ftp://x"]}]' }, /^RPC_CHAINS 0\.urls\.0: /],
  [{ PIPELINE_PRIVATE: 'yes' }, /^PIPELINE_PRIVATE must be "on" or "off"$/],
  [{ TRUST_PROXY: 'On' }, /^TRUST_PROXY must be "on" or "off"$/],
])('%j is refused in one sentence', (environment, sentence) => {
  expect(of(environment)).toEqual({ ok: false, error: expect.stringMatching(sentence) })
})
