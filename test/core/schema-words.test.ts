import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseWith } from '../../src/core/schema-words.ts'

describe('a schema’s refusal', () => {
  it('says what to send instead, unless the schema has words of its own', () => {
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
      'extra unknown field: leave it out',
    ])
    expect(said({ n: 'x', side: 'B', list: [], own: '' })).toEqual(['coin is required', 'n must be a number'])
  })
})
