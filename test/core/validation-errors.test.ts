import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseWith } from '../../src/core/validation-errors.ts'

describe('validation error', () => {
  it('says what to send instead, unless the schema has its own message', () => {
    const schema = z.strictObject({
      coin: z.string().min(1),
      n: z.int().min(2).max(9),
      side: z.enum(['B', 'A']),
      list: z.array(z.string()).max(1),
      own: z.string('must be a song'),
    })
    const said = (value: unknown) => {
      const parsed = parseWith(schema, value)
      return parsed.ok ? [] : parsed.error.map(({ path, message }) => `${path} ${message}`)
    }
    expect(said([])).toEqual([' must be an object'])
    expect(said({ coin: '', n: 1, side: 'x', list: ['a', 'b'], own: 5, extra: 1 })).toEqual([
      'coin must not be empty',
      'n must be at least 2',
      'side must be "B" or "A"',
      'list must be at most 1 entries',
      'own must be a song',
      'extra unknown field: remove it',
    ])
    expect(said({ n: 'x', side: 'B', list: [], own: '' })).toEqual(['coin is required', 'n must be a number'])
  })
  it('distinguishes a missing from a wrong discriminator', () => {
    const schema = z.object({
      to: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('table'), name: z.string() }),
        z.strictObject({ type: z.literal('bucket') }),
      ]),
    })
    const said = (to: unknown) => {
      const parsed = parseWith(schema, { to })
      return parsed.ok ? [] : parsed.error.map(({ path, message }) => `${path} ${message}`)
    }
    expect(said({ name: 'rows' })).toEqual(['to.type is required: "table" or "bucket"'])
    expect(said({ type: 'tabel' })).toEqual(['to.type must be "table" or "bucket" (did you mean "table"?)'])
  })
  it('names a field whose "length" cannot be measured', () => {
    const parsed = parseWith(z.object({ dex: z.string().max(9) }), JSON.parse('{"dex":{"length":{"toString":0}}}'))
    expect(parsed).toEqual({ ok: false, error: [{ path: 'dex', message: 'must not be an object with a "length"' }] })
  })
  const form = z.strictObject({
    coin: z
      .union([z.string(), z.array(z.string())], 'must be a coin or a list of coins; leave it out for all')
      .optional(),
    side: z.enum(['buy', 'sell']).optional(),
    terms: z
      .strictObject({ credits: z.number().optional() })
      .transform((terms) => terms)
      .nullish(),
  })
  const frame = z.discriminatedUnion('method', [
    z.strictObject({ method: z.literal('send'), ...form.shape }),
    z.strictObject({ method: z.literal('ping') }),
  ])
  const first = (schema: z.ZodType, value: unknown) => {
    const parsed = parseWith(schema, value)
    return parsed.ok ? 'ok' : `${parsed.error[0].path}: ${parsed.error[0].message}`
  }

  it.each([
    [form, { coins: ['BTC'] }, 'coins: unknown field; did you mean "coin" (a coin or a list of coins)?'],
    [form, { symbol: 'BTC' }, 'symbol: unknown field; did you mean "coin" (a coin or a list of coins)?'],
    [form, { terms: { credit: 5 } }, 'terms.credit: unknown field; did you mean "credits" (a number)?'],
    [form, { terms: { x: 5, credits: 1 } }, 'terms.x: unknown field: remove it'],
    [form, { coin: 'BTC', coins: [] }, 'coins: unknown field; valid fields: coin, side, terms'],
    [form, { colour: 1 }, 'colour: unknown field; valid fields: coin, side, terms'],
    [form, { side: 'Buy' }, 'side: must be "buy" or "sell" (did you mean "buy"?)'],
    [form, { side: 'up' }, 'side: must be "buy" or "sell"'],
    [frame, { method: 'send', coins: 'BTC' }, 'coins: unknown field; did you mean "coin" (a coin or a list of coins)?'],
    [frame, { method: 'ping', id: 1 }, 'id: unknown field: remove it'],
    [frame, { method: 'sned' }, 'method: must be "send" or "ping" (did you mean "send"?)'],
    [
      z.preprocess((sent) => sent, form),
      { Coin: 1 },
      'Coin: unknown field; did you mean "coin" (a coin or a list of coins)?',
    ],
  ])('names what was meant: %#', (schema, value, said) => {
    expect(first(schema, value)).toBe(said)
  })

  it('names a similar unknown field for a missing one', () => {
    const lenient = z.object({ req: z.object({ coin: z.string(), startTime: z.int(), endTime: z.int().optional() }) })
    expect(first(lenient, { req: { symbol: 'BTC', startTime: 1 } })).toBe('req.coin: is required (you sent "symbol")')
    expect(first(lenient, { req: { coin: 'BTC', endTime: 1, from: 1 } })).toBe(
      'req.startTime: is required (you sent "from")',
    )
    expect(first(lenient, { req: { coin: 'BTC', endTime: 1 } })).toBe('req.startTime: is required')
    expect(first(lenient, { request: {} })).toBe('req: is required, an object with coin, startTime, endTime')
    expect(first(lenient, JSON.parse('{"__proto__":{"req":1}}'))).toMatch(/^req: is required,/)
  })

  it('truncates echoes of client input', () => {
    const said = first(form, { [`coin${'s'.repeat(5_000)}`]: 1 })
    expect(said.length).toBeLessThan(200)
    const lenient = z.object({ coin: z.string() })
    expect(first(lenient, { [`coin${'s'.repeat(5_000)}`]: 1 })).toBe('coin: is required')
  })

  it('inspects only a few of many unknown fields', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, 1]))
    const parsed = parseWith(form, { ...many, terms: many })
    expect(!parsed.ok && parsed.error.length).toBe(32)
  })
})
