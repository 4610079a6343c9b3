// Client documents: what is accepted, what is rejected, and at what cost.

import { getIntrospectionQuery } from 'graphql'
import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { type Payload, readDocument, restoreRequest } from '../../../src/relay/graphql/document.ts'
import { graphqlSchema } from '../../../src/relay/graphql/schema.ts'

const FRAME = '{ data { coin } }'
const parsed = (query: string, more: Omit<Payload, 'query'> = {}) => {
  const read = readDocument({ query, ...more })
  if (!read.ok || read.value.kind !== 'subscription') throw new Error(JSON.stringify(read))
  return read.value
}
const refusal = (query: string, more: Omit<Payload, 'query'> = {}) => {
  const read = readDocument({ query, ...more })
  return read.ok ? 'taken' : read.error.map(({ message }) => message).join('; ')
}

describe('arguments', () => {
  // GQL-7
  it('are the fields of the body on /ws', () => {
    const fields = graphqlSchema().getSubscriptionType()!.getFields()
    expect(Object.keys(fields)).toEqual(CHANNELS.map(({ type }) => type))
    expect(parsed(`subscription { bbo(coin: "BTC") ${FRAME} }`).body).toEqual({ type: 'bbo', coin: 'BTC' })
    const book = 'subscription ($coin: [String!], $n: Int) { l2BookDiff(coin: $coin) { data { Updates { time } } } }'
    expect(refusal(book)).toMatch(/never used/)
    const of = book.replace(', $n: Int', '')
    expect(parsed(of, { variables: { coin: 'BTC' } }).body).toEqual({ type: 'l2BookDiff', coin: 'BTC' })
    expect(parsed(of, { variables: { coin: ['BTC', 'ETH'] } }).body).toEqual({
      type: 'l2BookDiff',
      coin: ['BTC', 'ETH'],
    })
    expect(parsed(of, { variables: { coin: null } }).body).toEqual({ type: 'l2BookDiff' })
    expect(parsed('subscription { l2Book(coin: "BTC", nSigFigs: 5, mantissa: 2) { data { coin } } }').echo).toBe(
      '{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":2,"fast":false}',
    )
  })

  // GQL-7
  it.each([
    [`subscription { bbo(coin: "a b") ${FRAME} }`, {}, /^coin: /],
    [`subscription ($c: String!) { bbo(coin: $c) ${FRAME} }`, { variables: { c: {} } }, /String cannot represent/],
    [
      'subscription { l2Book(coin: "BTC") { data { coin } } }',
      { variables: { nSigFigs: 5 } },
      /^variables: "nSigFigs"/,
    ],
    [
      'subscription ($coin: [String!]) { l2BookDiff(coin: $coin) { data { Updates { time } } } }',
      { variables: { Coin: 'BTC' } },
      /^variables: "Coin".*"coin"/,
    ],
    [`subscription { trades(coin: "BTC", fromBlock: -1) { data { px } } }`, {}, /^fromBlock: /],
    [`subscription { trades(coin: "BTC", fromBlock: 1.5) { data { px } } }`, {}, /must be a whole number|SafeInt/],
    [
      'subscription { l2Book(coin: "BTC", mantissa: 3, nSigFigs: 5) { data { coin } } }',
      {},
      /mantissa: must be 1, 2 or 5/,
    ],
  ])('are rejected if wrong: %s', (query, more, why) => {
    expect(refusal(query, more)).toMatch(why)
  })

  // GQL-8
  it('do not decide whether frames have their block; the selection does', () => {
    const meta = (selection: string) => parsed(`subscription { ${selection} }`).meta
    expect(meta('trades(coin: "BTC") { data { px time } }')).toBe(false)
    expect(meta('trades(coin: "BTC") { data { px } block_height }')).toBe(true)
    const ledger = 'userNonFundingLedgerUpdates(user: "0x0000000000000000000000000000000000000001")'
    expect(meta(`${ledger} { data { user } }`)).toBe(false)
    expect(meta(`${ledger} { data { block_height } }`)).toBe(true)
    expect(meta('bbo(coin: "BTC") { data { time } }')).toBe(false)
  })
})

describe('a saved subscription', () => {
  const request = parsed('subscription { a: bbo(coin: "BTC") { data { time b: bbo { px } } } }')

  // GQL-13
  it('is restored while its fields exist', () => {
    const { alias, plan, echo } = request
    expect(plan.key).toBe('{data:data{time:time b:bbo{px:px}}}')
    expect(restoreRequest({ alias, key: plan.key }, echo)).toMatchObject({ alias, plan, echo, target: request.target })
    expect(restoreRequest({ alias, key: '{data:data{gone:gone}}' }, echo)).toBeNull()
    expect(restoreRequest({ alias, key: plan.key }, '{"type":"gone"}')).toBeNull()
    expect(restoreRequest({ alias, key: plan.key }, '{"type":"bbo"}')).toBeNull()
  })

  // GQL-13
  it('may be invalid', () => {
    const { alias, plan, echo } = parsed('subscription { bbo(coin: "BTC") { data @skip(if: true) { time } } }')
    expect(restoreRequest({ alias, key: plan.key }, echo)?.plan).toEqual(plan)
  })
})

describe('documents', () => {
  // GQL-6
  it.each([
    ['subscription { bbo(coin: "BTC") { nothing } }', /Cannot query field "nothing"/],
    [`subscription { bbo(coin: "A") ${FRAME} other: bbo(coin: "B") ${FRAME} }`, /one top level field/],
    ['subscription { __typename }', /introspection/],
    [`subscription { bbo(coin: "A") @include(if: false) ${FRAME} }`, /exactly one/],
    [`subscription A { bbo(coin: "A") ${FRAME} } subscription B { bbo(coin: "A") ${FRAME} }`, /^operationName: /],
    [
      'fragment F on BboFrame { ...G } fragment G on BboFrame { ...F } subscription { bbo(coin: "A") { ...F } }',
      /itself/,
    ],
  ])('that are invalid are rejected: %s', (query, why) => {
    expect(refusal(query)).toMatch(why)
  })

  // GQL-6
  it('that are too large are rejected before validation', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, at) => `a${at}: coin`).join(' ')
    expect(refusal(`subscription { bbo(coin: "A") { data { ${fields(350)} } } }`)).toMatch(/^coin: /)
    expect(refusal(`subscription { bbo(coin: "A") { data { ${fields(400)} } } }`)).toMatch(/at most 400 fields/)
    const alike = (count: number) => refusal(`subscription { bbo(coin: "A") { data { ${'coin '.repeat(count)} } } }`)
    expect([alike(40), alike(41)]).toEqual(['taken', expect.stringMatching(/at most 40 fields/)])
    const called = (chars: number) => refusal(`subscription { ${'x'.repeat(chars)}: bbo(coin: "A") ${FRAME} }`)
    expect([called(64), called(65)]).toEqual(['taken', expect.stringMatching(/aliases of at most 64 characters/)])
    expect(refusal(`{ ${'a { '.repeat(17)} b ${'}'.repeat(17)} }`)).toMatch(/at most 16 levels/)
    expect(refusal(`{ ${'channels '.repeat(6_000)} }`)).toMatch(/token/)
    const doubling = Array.from(
      { length: 30 },
      (_, at) => `fragment F${at} on BboFrame { ...F${at + 1} ...F${at + 1} }`,
    )
    const all = `${doubling.join(' ')} fragment F30 on BboFrame { data { coin } } subscription { bbo(coin: "A") { ...F0 } }`
    expect(refusal(all)).toMatch(/fragments expanded/)
    const defined = Array.from({ length: 60 }, (_, at) => `fragment F${at} on BboFrame { data { coin } }`)
    expect(refusal(defined.join(' '))).toMatch(/fragments and operations/)
    const lists = Array.from({ length: 13 }, (_, at) => `t${at}: types { name }`)
    expect(refusal(`{ __schema { ${lists.join(' ')} } }`)).toMatch(/\b12\b.*types/)
  })

  // GQL-6
  it('that multiply schema lists by aliases are rejected', () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, at) => `a${at}: description`).join(' ')
    expect(refusal(`{ __schema { types { fields { ${aliases(12)} } } } }`)).toBe('taken')
    expect(refusal(`{ __schema { types { fields { ${aliases(13)} } } } }`)).toMatch(/\b12 aliases/)
    const twice = '{ a: __schema { types { ...T } } b: __schema { types { ...T } } }'
    expect(refusal(`${twice} fragment T on __Type { fields { ${aliases(6)} } }`)).toMatch(/\b12 aliases/)
    const five = Array.from({ length: 5 }, (_, at) => `a${at}: __schema { types { ...T } }`).join(' ')
    expect(refusal(`{ ${five} } fragment T on __Type { fields { args { name } } }`)).toMatch(/\b12\b.*types/)
  })

  it('are rejected without terminal control characters', () => {
    const unseen = '\u001b[2J\u202e'
    const of = 'subscription ($c: String!) { bbo(coin: $c) { data { coin } } }'
    expect(refusal(of, { variables: { c: { [unseen]: 1 } } })).toContain('{ \\u001b[2J\\u202e: 1 }')
    expect(refusal(`subscription { allFills(aggregateByTime: "\u202e") { fills { user } } }`)).toContain('"\\u202e"')
  })

  // GQL-6
  it.each([
    ['lists', `subscription { bbo(coin: ${'['.repeat(950)}${']'.repeat(950)}) ${FRAME} }`],
    ['objects', `subscription { bbo(coin: ${'{a:'.repeat(480)}1${'}'.repeat(480)}) ${FRAME} }`],
    ['types', `subscription ($a: ${'['.repeat(950)}Int${']'.repeat(950)}) { bbo(coin: $a) ${FRAME} }`],
    ['selections', '{a'.repeat(600) + '}'.repeat(600)],
    ['lists that never end', `subscription { bbo(coin: ${'['.repeat(1_900)}`],
    ['what never ends', '{a'.repeat(900)],
    ['a long name', `{ ${'x'.repeat(60_000)} }`],
  ])('of deep %s are rejected with a short message', (_, query) => {
    const text = refusal(query)
    expect(text).not.toBe('taken')
    expect(text.length).toBeLessThan(2_600)
  })

  // GQL-6
  it('that query the schema are answered completely', () => {
    const read = readDocument({ query: getIntrospectionQuery() })
    if (!read.ok || read.value.kind !== 'query') throw new Error(JSON.stringify(read))
    const { data, errors } = JSON.parse(read.value.text)
    expect(errors).toBeUndefined()
    expect(data.__schema.subscriptionType).toMatchObject({ name: 'Subscription' })
    expect(data.__schema.types.map(({ name }: { name: string }) => name)).toContain('UserFillsFrame')
  })
})
