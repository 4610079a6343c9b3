// ABIs of owners: which events are read of one, and what is refused, by its place.

import { expect, it } from 'vitest'
import { readAbi } from '../../../src/pipelines/evm/abi.ts'

const event = (...inputs: unknown[]) => ({ abi: [{ type: 'event', name: 'E', inputs }] })
const nested = (depth: number): object => ({
  name: 'a',
  type: depth === 0 ? 'bool' : 'tuple',
  ...(depth > 0 && { components: [nested(depth - 1)] }),
})
const told = (file: object) => {
  const read = readAbi(file)
  return read.ok ? 'ok' : `${read.error.path}: ${read.error.message}`
}

it('reads events, names unnamed inputs, and ignores other entries', () => {
  const inputs = [{ type: 'uint256' }, { name: 'to', type: 'address', indexed: true, internalType: 'address' }]
  const abi = [
    { type: 'function', name: 'f', inputs: 'whatever' },
    { type: 'event', name: 'A', anonymous: true, inputs: [] },
    { type: 'event', name: 'E', anonymous: false, inputs },
  ]
  const first = { name: '_0', type: 'uint256', indexed: false, components: [] }
  const second = { name: 'to', type: 'address', indexed: true, components: [] }
  expect(readAbi({ abi })).toEqual({ ok: true, value: [{ type: 'event', name: 'E', inputs: [first, second] }] })
  expect(readAbi({})).toEqual({ ok: true, value: [] })
})

it.each(['address', 'bytes32[]', 'uint8[3][]', 'uint256[][]', 'bytes[]', 'string', 'int24[2]'])('takes %s', (type) =>
  expect(told(event({ name: 'a', type }))).toBe('ok'),
)

it.each([
  [{ abi: {} }, 'abi_file.abi: must be an array'],
  [{ abi: Array(100_000).fill(0) }, 'abi_file.abi.0: must be an object'],
  [{ abi: Array(100_000).fill(event().abi[0]) }, 'abi_file.abi: must have at most 1000 events'],
  [{ abi: [{}] }, 'abi_file.abi.0.type: must be a string'],
  [{ abi: [{ type: 'event', name: '<b>', inputs: [] }] }, 'abi_file.abi.0.name: must be an identifier'],
  [{ abi: [{ type: 'event', name: 'E' }] }, 'abi_file.abi.0.inputs: must be an array'],
  [event({ type: 'uint' }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 'uint7' }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 'uint264' }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 'bool[0]' }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 'bool[99999]' }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 7 }), 'abi_file.abi.0.inputs.0.type: must be a Solidity type'],
  [event({ type: 'bool', name: '__proto__' }), 'abi_file.abi.0.inputs.0.name: must be an identifier'],
  [event({ type: 'bool', indexed: 1 }), 'abi_file.abi.0.inputs.0.indexed: must be true or false'],
  [event({ type: 'bool', name: '_1' }, { type: 'bool' }), 'abi_file.abi.0.inputs: must have unique names'],
  [
    event(
      ...Array(4)
        .fill(0)
        .map((_, i) => ({ type: 'bool', name: `a${i}`, indexed: true })),
    ),
    'at most 3 indexed',
  ],
  [event(...Array(65).fill({ type: 'bool' })), 'abi_file.abi.0.inputs: must have at most 64'],
  [event({ type: 'tuple', components: [] }), 'abi_file.abi.0.inputs.0.components: must not be empty'],
  [event({ type: 'tuple' }), 'abi_file.abi.0.inputs.0.components: must not be empty'],
  [event({ type: 'tuple[]', components: [{ type: 'tuple[9999]', components: [{}] }] }), 'components.0.type: must be'],
  [event(nested(9)), '8 deep'],
  [event({ type: 'bytes[][]' }), 'abi_file.abi.0.inputs.0.type: must not nest lists'],
  [event({ type: 'tuple[]', components: [{ type: 'string[]' }] }), 'must not nest lists'],
])('refuses %#: %s', (file, words) => expect(told(file)).toContain(words))

it('accepts nested tuples up to the limit', () => expect(told(event(nested(8)))).toBe('ok'))

it('counts the components of tuples', () => {
  const parts = Array.from({ length: 40 }, (_, i) => ({ name: `a${i}`, type: 'bool' }))
  const two = ['x', 'y'].map((name) => ({ name, type: 'tuple', components: parts }))
  expect(told(event(...two))).toMatch(/^abi_file\.abi\.0\.inputs: /)
})
