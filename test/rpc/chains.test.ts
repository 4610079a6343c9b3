// RPC_CHAINS: accepted values, and the error for each field.

import { expect, it } from 'vitest'
import { CallPrices, isAllowed, parseChains, priceOf } from '../../src/rpc/chains.ts'

const URL = 'https://node.example.com/evm'
const parse = (...chains: object[]) => parseChains(JSON.stringify(chains))
const chain = (more: object = {}) => {
  const parsed = parse({ name: 'evm', urls: [URL], ...more })
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value[0]!
}

it.each([
  ['{', 'RPC_CHAINS '],
  ['{}', 'RPC_CHAINS value: '],
  ['[{}]', 'RPC_CHAINS 0.name: '],
  [`[{"name":"a/b","urls":["${URL}"]}]`, 'RPC_CHAINS 0.name: '],
  ['[{"name":"a"}]', 'RPC_CHAINS 0.urls: '],
  ['[{"name":"a","urls":["ftp://x"]}]', 'RPC_CHAINS 0.urls.0: '],
  ['[{"name":"a","urls":["https://me:secret@x/"]}]', 'RPC_CHAINS 0.urls.0: '],
  [`[{"name":"a","urls":["${URL}"],"timeoutMs":1}]`, 'RPC_CHAINS 0.timeoutMs: '],
  [`[{"name":"a","urls":["${URL}"],"allow":["eth*x"]}]`, 'RPC_CHAINS 0.allow.0: '],
  [`[{"name":"a","urls":["${URL}"],"prices":{"eth_call":-1}}]`, 'RPC_CHAINS 0.prices.eth_call: '],
  [`[{"name":"a","urls":["${URL}"],"finality":1}]`, 'RPC_CHAINS 0.finality: '],
])('%s is refused', (text, field) => {
  const parsed = parseChains(text)
  expect(parsed.ok ? '' : parsed.error).toContain(field)
})

it('rejects two chains with the same name', () => {
  expect(parse({ name: 'a', urls: [URL] }, { name: 'a', urls: [URL] })).toMatchObject({ ok: false })
})

it('allows methods that read, and that send signed transactions', () => {
  const allowed = ['eth_call', 'net_version', 'web3_sha3', 'eth_sendRawTransaction', 'eth_getLogs']
  const denied = [
    'eth_accounts',
    'eth_signTypedData_v4',
    'eth_resend',
    'debug_traceCall',
    'personal_sign',
    'eth_newFilter',
    'evm_mine',
  ]
  expect(allowed.filter((method) => !isAllowed(chain(), method))).toEqual([])
  expect(denied.filter((method) => isAllowed(chain(), method))).toEqual([])
  const own = chain({ allow: ['*'], deny: ['admin_*'] })
  expect([isAllowed(own, 'debug_traceCall'), isAllowed(own, 'admin_peers')]).toEqual([true, false])
  // Some nodes treat these names as equal.
  expect(['eth_SENDTransaction', 'eth_Accounts'].filter((method) => isAllowed(chain(), method))).toEqual([])
  expect(isAllowed(own, 'Admin_peers')).toBe(false)
})

it('applies the price of the longest pattern', () => {
  const prices = { '*': '0.5', 'eth_*': 2, eth_getLogs: '10', 'eth_getLogs*': 3 }
  const of = (method: string) => priceOf(chain({ prices }), method) / 1e6
  expect([of('net_version'), of('eth_call'), of('eth_getLogs'), of('eth_getLogsX')]).toEqual([0.5, 2, 10, 3])
  expect(of('ETH_GETLOGS')).toBe(10)
  expect(['eth_call', 'constructor', '__proto__'].map((method) => priceOf(chain(), method))).toEqual([1e6, 1e6, 1e6])
})

it('caches prices per method', () => {
  const prices = new CallPrices(chain({ prices: { eth_getLogs: 10 } }))
  const of = (method: string) => prices.of(method)
  for (let i = 0; i < 2; i++) {
    expect(of('eth_getLogs')).toEqual({ product: 'rpc', type: 'eth_getLogs', amount: 10e6 })
    expect(of('eth_call')).toEqual({ product: 'rpc', type: 'eth_call', amount: 1e6 })
    expect(of('eth_accounts')).toBeNull()
  }
  for (let i = 0; i < 1_000; i++) of(`eth_${i}`)
  expect(of('eth_getLogs')!.amount).toBe(10e6)
})
