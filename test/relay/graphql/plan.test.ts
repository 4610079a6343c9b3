// Plans against graphql-js: for any selection, projecting a frame's text equals executing the selection on the frame.

import * as fc from 'fast-check'
import {
  execute,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isListType,
  parse,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { readDocument, restoreRequest } from '../../../src/relay/graphql/document.ts'
import { Operation } from '../../../src/relay/graphql/operations.client.ts'
import { project } from '../../../src/relay/graphql/projection.ts'
import { graphqlSchema } from '../../../src/relay/graphql/schema.ts'
import { SharedPlans } from '../../../src/relay/graphql/shared-plans.ts'

const FIELDS = graphqlSchema().getSubscriptionType()!.getFields()
const frameType = (type: string) => getNamedType(FIELDS[type]!.type) as GraphQLObjectType

/** Arguments of a field as a document has them. */
function argumentsOf(request: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(request).filter(([, value]) => value !== null)
  return given.length === 0 ? '' : `(${given.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')})`
}

const isMember = (field: GraphQLField<unknown, unknown>) => typeof field.extensions.member === 'number'

/** Frames of a type, with missing, null, reordered and extra fields. */
function valuesOf(type: GraphQLOutputType): fc.Arbitrary<unknown> {
  if (isListType(type)) return fc.array(valuesOf(type.ofType), { maxLength: 3 })
  if (type instanceof GraphQLObjectType) {
    const fields = Object.values(type.getFields())
    if (fields.every(isMember)) return fc.tuple(...fields.map((field) => valuesOf(field.type)))
    const members = fields.map((field) => [field.name, fc.option(valuesOf(field.type))] as const)
    const full = fc.record(Object.fromEntries(members), { noNullPrototype: true })
    const some = fc.record(Object.fromEntries(members), { noNullPrototype: true, requiredKeys: [] })
    return fc.oneof(
      full,
      fc
        .tuple(some, fc.dictionary(fc.stringMatching(/^[a-z"\\]{1,3}$/), fc.jsonValue({ maxDepth: 1 })))
        .map(([own, others]) => Object.fromEntries([...Object.entries({ ...others, ...own })].reverse())),
    )
  }
  switch (String(type)) {
    case 'SafeInt':
      return fc.integer()
    case 'Float':
      return fc.integer().map((n) => n / 8)
    case 'Boolean':
      return fc.boolean()
    case 'JSON':
      return fc.jsonValue({ maxDepth: 2 })
    default:
      return fc.string({ unit: fc.constantFrom('a', '"', '\\', '}', ']', ',', 'é', '\n', ' ') })
  }
}

/** Selection sets of a type: fields, aliases, fragments and directives. */
function selectionOf(type: GraphQLObjectType): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields())
  const one = fc.constantFrom(...fields).chain((field) => {
    const named = getNamedType(field.type)
    const below = named instanceof GraphQLObjectType ? selectionOf(named) : fc.constant('')
    // A repeated field must have mergeable selections, so other selections get other names.
    return fc
      .tuple(
        fc.constantFrom('', '', '', 'a'),
        below,
        fc.constantFrom('', '', ' @skip(if: $yes)', ' @include(if: $yes)'),
      )
      .map(([alias, set, directive]) => `${alias && `${alias}${field.name}: `}${field.name}${directive} ${set}`)
  })
  const typename = fc.constantFrom('__typename', 'is: __typename')
  return fc
    .array(fc.oneof({ weight: 6, arbitrary: one }, typename), { minLength: 1, maxLength: 4 })
    .chain((selections) =>
      fc
        .constantFrom('plain', 'plain', 'inline')
        .map((form) => (form === 'plain' ? selections.join(' ') : `... on ${type.name} { ${selections.join(' ')} }`)),
    )
    .map((text) => `{ ${text} }`)
}

const isTooMuch = (query: string) => {
  const read = readDocument({ query })
  return !read.ok && /only once|too long/.test(read.error[0]!.message)
}

const formatted = (frame: unknown, indent: number) => JSON.stringify(frame, null, indent)

describe.each(CHANNELS.map((channel) => [channel.type, channel] as const))('%s', (type, { example }) => {
  const payloadOf = (selection: string) =>
    `subscription ${selection.includes('$yes') ? '($yes: Boolean = true)' : ''} { ${type}${argumentsOf(example.request)} ${selection} }`

  function expectSame(document: string, frame: object, indent = 0): void {
    const read = readDocument({ query: document })
    if (!read.ok || read.value.kind !== 'subscription') throw new Error(JSON.stringify(read))
    const rootValue = { [type]: frame }
    const result = execute({ schema: graphqlSchema(), document: parse(document), rootValue }) as object
    const { alias, plan, echo } = read.value
    const restored = restoreRequest({ alias, key: plan.key }, echo)
    expect(restored?.plan).toEqual(plan)
    const shared = new SharedPlans({ nowMs: 0 }).acquire(alias, plan, '')
    expect(JSON.parse(shared.payload(formatted(frame, indent)))).toEqual(JSON.parse(JSON.stringify(result)))
    expect(JSON.stringify(JSON.parse(shared.payload(formatted(frame, indent))))).toBe(JSON.stringify(result))
  }

  // GQL-8
  it('projects its example like graphql-js, fully and in parts', () => {
    const full = (of: GraphQLObjectType): string =>
      `{ ${Object.values(of.getFields())
        .map((field) => {
          const named = getNamedType(field.type)
          return `${field.name} ${named instanceof GraphQLObjectType ? full(named) : ''}`
        })
        .join(' ')} }`
    expectSame(payloadOf(full(frameType(type))), example.frame as object)
  })

  // GQL-8
  it('accepts its frames as results', () => {
    const read = readDocument({ query: payloadOf('{ __typename }') })
    if (!read.ok || read.value.kind !== 'subscription') throw new Error(JSON.stringify(read))
    const shared = new SharedPlans({ nowMs: 0 }).acquire(read.value.alias, read.value.plan, '')
    const sent: string[] = []
    const operation = new Operation('1', read.value, shared, { send: (text) => void sent.push(text), onEnd: () => {} })
    operation.send(JSON.stringify(example.frame))
    expect(sent).toEqual([expect.stringContaining(`"next","payload":{"data":{"${type}":{"__typename":"`)])
  })

  // GQL-8
  it('projects any frame by any selection like graphql-js', () => {
    fc.assert(
      fc.property(
        selectionOf(frameType(type)),
        valuesOf(frameType(type)),
        fc.constantFrom(0, 2),
        (set, frame, indent) => {
          const document = payloadOf(set)
          // Two different fields with one name are invalid, and each field may be selected once.
          fc.pre(validate(graphqlSchema(), parse(document)).length === 0 && !isTooMuch(document))
          expectSame(document, frame as object, indent)
        },
      ),
      { numRuns: 8 },
    )
  })
})

describe('a plan', () => {
  const planOf = (query: string) => {
    const read = readDocument({ query })
    if (!read.ok || read.value.kind !== 'subscription') throw new Error(JSON.stringify(read))
    return read.value
  }

  it('copies exact matches unchanged', () => {
    const { plan } = planOf('subscription { bbo(coin: "BTC") { data { coin time bbo { px sz n } } } }')
    const data = '{"coin":"BTC","time":1.0e3,"bbo":[ {"px":"1","sz":"2","n":3}, null ]}'
    expect(project(plan, `{"channel":"bbo","data":${data}}`)).toBe(`{"data":${data}}`)
    expect(project(plan, '{"data":{"time":1.50,"bbo":[{"n":12345678901234567890}]},"channel":"bbo"}')).toBe(
      '{"data":{"coin":null,"time":1.50,"bbo":[{"px":null,"sz":null,"n":12345678901234567890}]}}',
    )
  })

  it('is shared by equal selections, and projects a frame once', () => {
    const plans = new SharedPlans({ nowMs: 0 })
    const one = planOf('subscription A { bbo(coin: "BTC") { data { coin bbo { px } } } }')
    const other = planOf(
      'fragment F on BboFrame { data { coin ...G } } fragment G on BboData { bbo { px } } subscription B($c: String!="BTC") { bbo(coin: $c) { ...F } }',
    )
    const shared = plans.acquire(one.alias, one.plan, one.echo)
    expect(plans.acquire(other.alias, other.plan, other.echo)).toBe(shared)
    const text = '{"channel":"bbo","data":{"coin":"BTC","bbo":[]}}'
    expect(shared.payload(text)).toBe('{"data":{"bbo":{"data":{"coin":"BTC","bbo":[]}}}}')
    for (const { alias, plan, echo } of [one, other]) plans.release(alias, plan, echo)
    expect(plans.size).toBe(0)
  })

  it('projects a snapshot once for successive receivers, whatever frames come in between', async () => {
    const clock = { nowMs: 0 }
    const plans = new SharedPlans(clock)
    const { alias, plan, echo } = planOf('subscription { bbo(coin: "BTC") { data { coin } } }')
    const shared = plans.acquire(alias, plan, echo)
    const frame = (coin: string) => JSON.stringify({ channel: 'bbo', data: { coin } })
    const snapshot = frame('x'.repeat(1024 * 1024))
    for (let receiver = 0; receiver < 20; receiver++) {
      expect(shared.payload(snapshot)).toContain('{"data":{"bbo":{"data":{"coin":"xxx')
      shared.payload(frame(`${receiver}`))
      await Promise.resolve()
    }
    clock.nowMs = 2_000
    expect(plans.isFull).toBe(false)
  })

  // GQL-6
  it('makes results at most a few times as long as the frame', () => {
    const levels = Array.from({ length: 1_000 }, () => ({ px: '81307.0', sz: '1.5', n: 3 }))
    const frame = JSON.stringify({ channel: 'l2BookDiff', data: { Snapshot: { coin: 'BTC', levels: [levels, []] } } })
    const alias = 'x'.repeat(19)
    const { plan } = planOf(
      `subscription { l2BookDiff(coin: "BTC") { data { Snapshot { levels { a${alias}: px b${alias}: sz n __typename } } } } }`,
    )
    expect(project(plan, frame).length).toBeLessThan(4 * frame.length)
    const refused = (levels: string) =>
      readDocument({ query: `subscription { l2BookDiff(coin: "A") { data { Snapshot { ${levels} } } } }` })
    const text = (levels: string) => JSON.stringify(refused(levels))
    expect(text('levels { a: px px }')).toContain('px: ')
    expect(text('levels { px } more: levels { sz }')).toContain('levels: ')
    expect(text('levels { px ...on Level { px sz } } levels { n }')).toContain('"ok":true')
    expect(text(`levels { ${'x'.repeat(64)}: px ${'y'.repeat(64)}: sz }`)).toContain('Aliases in Level are too long')
    expect(text(`levels { ${Array.from({ length: 9 }, (_, at) => `a${at}: __typename`)} }`)).toContain('too long')
  })

  // GQL-12
  it('is rejected while others use much memory or processor time', () => {
    const clock = { nowMs: 0 }
    const plans = new SharedPlans(clock)
    const { alias, plan, echo } = planOf('subscription { bbo(coin: "BTC") { data { coin } } }')
    for (let at = 0; at < 50_000; at++) plans.acquire(`a${at}`, plan, echo)
    expect([plans.isFull, plans.hasRoom(alias, plan, echo), plans.hasRoom('a1', plan, echo)]).toEqual([
      true,
      false,
      true,
    ])
    plans.release('a1', plan, echo)
    expect(plans.hasRoom(alias, plan, echo)).toBe(true)
    const shared = plans.acquire(alias, plan, echo)
    plans.release('a2', plan, echo)
    const frame = JSON.stringify({ channel: 'bbo', data: { coin: 'x'.repeat(1024 * 1024) } })
    clock.nowMs = 1_500
    for (let at = 0; at < 17; at++) shared.payload(frame.replace('x', `${at}`))
    expect(plans.isFull).toBe(true)
    clock.nowMs = 2_000
    plans.sample()
    expect(plans.isFull).toBe(true)
    clock.nowMs = 4_000
    plans.sample()
    expect(plans.isFull).toBe(false)
  })

  it('stops at the end of the text', () => {
    const { plan } = planOf('subscription { bbo(coin: "BTC") { data { coin } } }')
    const text = '{"channel":"bbo","data":{"coin":"BTC","bbo":[{"px":"1"}]}}'
    for (let end = 0; end < text.length; end++) expect(() => project(plan, text.slice(0, end))).toThrow()
  })
})
