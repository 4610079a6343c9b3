// Cache keys of requests: equivalent requests share a key, different ones do not. Derived from the schema and example
// of every type; special defaults and value formats are listed here.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { readCall } from '../../src/info/answer/call.ts'
import { CATALOGUE } from '../../src/info/queries/catalogue.ts'
import { createWorld, USER } from './answer/service-world.ts'

type Json = Record<string, unknown>
type Schema = z.core.JSONSchema.BaseSchema

const OTHER = `0x${'ef'.repeat(20)}`
/** Values equivalent to an absent optional field, in addition to null. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  dex: [''],
  aggregateByTime: [false],
  reversed: [false],
  limit: [100],
}
/** Types of completed trades; without a DEX they cover all. */
const OVER_ALL_DEXES = ['userCompletedTrades', 'userCompletedTradesByTime', 'userPnlSummary']
const defaultsOf = (type: string, name: string) =>
  name === 'dex' && OVER_ALL_DEXES.includes(type) ? ['*', 'ALL_DEXES'] : (DEFAULTS[name] ?? [])

/** Distinct values by field name; a type may reject some. */
const OTHERS: Readonly<Record<string, readonly unknown[]>> = {
  user: [OTHER],
  builder: [OTHER],
  vaultAddress: [OTHER],
  users: [[OTHER], [OTHER, USER], [USER, OTHER]],
  dex: ['zzz', 'Zzz'],
  coin: ['ETH', 'eth', '@1', 'xyz:ETH'],
  interval: ['1M', '4h'],
  nSigFigs: [2, 5],
  mantissa: [],
  startTime: [0, 1_790_000_000_001],
  endTime: [1_790_000_060_001],
  aggregateByTime: [true],
  reversed: [true],
  oid: [8, `0x${'ab'.repeat(16)}`],
  id: [21],
  venue: ['at'],
  limit: [7],
  rows: [7],
  side: ['A'],
  sz: ['0.4', '3'],
  cursor: ['1790000000001', '1790000000001_3'],
}
/** Values for other fields: at least one must be accepted. */
function othersOf(value: unknown): unknown[] {
  const digits = typeof value === 'string' ? [value.replaceAll(/(?<!^)[0-9a-f]/g, 'e')] : []
  return [true, 7, 'other', ...digits].filter((other) => other !== value)
}

const schemaOf = (query: (typeof CATALOGUE)[number]): Schema => z.toJSONSchema(query.request, { io: 'input' })
const namesOf = (schema: Schema) => Object.keys(schema.properties ?? {})
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Equivalent spellings of a value: hex in any case. */
function spelled(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) return fc.tuple(...value.map(spelled))
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/.test(value)) return fc.constant(value)
  const digits = [...value.slice(2)].map((digit) => fc.constantFrom(digit, digit.toUpperCase()))
  return fc.tuple(...digits).map((all) => `0x${all.join('')}`)
}

/** Equivalent JSON texts: any order and spelling, extra fields. */
function sayings(type: string, schema: Schema, value: Json): fc.Arbitrary<string> {
  const names = namesOf(schema)
  const field = (name: string): fc.Arbitrary<string | null> => {
    const given = value[name]
    const defaults = defaultsOf(type, name)
    const isLeftOut = given === undefined || defaults.includes(given)
    if (isLeftOut && !schema.required?.includes(name)) {
      const same = fc.constantFrom<unknown[]>(undefined, null, ...defaults)
      return same.map((each) => (each === undefined ? null : JSON.stringify(each)))
    }
    if (isObject(given)) return sayings(type, schema.properties![name] as Schema, given)
    return spelled(given).map((each) => JSON.stringify(each))
  }
  const unknown = fc.tuple(
    fc.string({ unit: 'binary' }).filter((name) => !names.includes(name)),
    fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.stringify(each)),
  )
  return fc
    .tuple(fc.tuple(...names.map(field)), fc.array(unknown, { maxLength: 4 }))
    .chain(([values, extras]) => {
      const all = [...values.map((text, i) => [names[i]!, text] as const), ...extras]
      const said = all.filter(([, text]) => text !== null)
      return fc.shuffledSubarray(said, { minLength: said.length, maxLength: said.length })
    })
    .map((fields) => `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`)
}

function keyOf(text: string): string {
  const read = readCall(text)
  if (!read.ok) throw new Error(`${text}: ${JSON.stringify(read.error)}`)
  return read.value.key
}

it.each(CATALOGUE.map((query) => [query.type, query] as const))(
  '%s has one key however it is said',
  async (type, query) => {
    const whole = { type, ...query.example.request }
    const key = keyOf(JSON.stringify(whole))
    // The canonical request parses to itself.
    expect(keyOf(key)).toBe(key)
    await fc.assert(
      fc.asyncProperty(sayings(type, schemaOf(query), whole), async (text) => {
        expect(keyOf(text)).toBe(key)
        const world = createWorld()
        const one = await world.send(text)
        const other = await world.send(key)
        expect([other.status, other.body]).toEqual([one.status, one.body])
        // The upstream only sees the canonical request.
        for (const asked of world.asked) expect(keyOf(asked)).toBe(asked)
      }),
      { numRuns: 60 },
    )
  },
)

/** The example with one field changed, for every field at any depth. */
function* changed(schema: Schema, value: Json): Generator<[name: string, changed: Json]> {
  for (const name of namesOf(schema)) {
    if (name === 'type') continue
    const inner = value[name]
    if (isObject(inner)) {
      const inners = changed(schema.properties![name] as Schema, inner)
      for (const [field, each] of inners) yield [field, { ...value, [name]: each }]
    } else for (const other of OTHERS[name] ?? othersOf(inner)) yield [name, { ...value, [name]: other }]
  }
}

it('different requests have different keys', () => {
  const keys = CATALOGUE.flatMap((query) => {
    const whole = { type: query.type, ...query.example.request }
    const others = [...changed(schemaOf(query), whole)].map(
      ([name, request]) => [name, JSON.stringify(request)] as const,
    )
    const taken = others.filter(([, text]) => readCall(text).ok)
    for (const [name] of others.filter(([field]) => OTHERS[field] === undefined))
      expect(
        taken.map(([field]) => field),
        `${name} has no other value in this file`,
      ).toContain(name)
    return [JSON.stringify(whole), ...taken.map(([, text]) => text)].map(keyOf)
  })
  expect(keys.length).toBeGreaterThan(2 * CATALOGUE.length)
  expect(new Set(keys).size).toBe(keys.length)
  // The key contains the whole request, so field sets cannot collide.
  for (const key of keys) expect(JSON.stringify(JSON.parse(key))).toBe(key)
})

it.each([
  [{ type: 'meta', dex: 'xyz' }, null],
  [{ type: 'meta', dex: null }, null],
  [{ type: 'meta', Dex: 'xyz' }, 'Dex (did you mean dex?)'],
  [{ type: 'clearinghouseState', user: USER, symbol: 'BTC', note: 1 }, 'symbol, note'],
  [
    { type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', startTime: 0, end: 5 } },
    'req.end (did you mean req.endTime?)',
  ],
  [{ type: 'meta', 'a b\n\u00e9': 1 }, 'a?b??'],
])('ignored fields of %j: %s', (body, ignored) => {
  expect(readCall(JSON.stringify(body))).toMatchObject({ ok: true, value: { ignoredFields: ignored } })
})

it('lists a limited number of ignored fields, and none for the examples', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${'x'.repeat(30)}${i}`, 1]))
  const call = readCall(JSON.stringify({ type: 'meta', ...many }))
  expect(call.ok && call.value.ignoredFields!.length).toBeLessThan(16 * 70)
  for (const { type, example } of CATALOGUE)
    expect(readCall(JSON.stringify({ type, ...example.request })), type).toMatchObject({
      value: { ignoredFields: null },
    })
})
