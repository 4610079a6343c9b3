// Answers of the real exchange, recorded and in our own words: they fit our response schemas and come through byte for
// byte.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ok } from '../../src/core/result.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'
import { ANSWERS, WIRES } from '../fixtures/wire.ts'
import { createWorld } from './answer/service-world.ts'

const isFromUpstream = (type: string) => queryOf(type)!.needs.includes('upstream')
/** What a caller gets for an answer of the exchange. */
function servedFor(type: string, text: string): string {
  if (type !== 'openOrders') return text
  // The one key that the specification adds where the exchange leaves it out.
  const orders = JSON.parse(text) as { cloid?: string }[]
  return JSON.stringify(orders.map((order) => ({ ...order, cloid: order.cloid ?? null })))
}

describe.each(WIRES)('answers of the exchange, %s', (_, wire, isAbsent) => {
  describe.skipIf(isAbsent)('each', () => {
    it.each(ANSWERS)('fits the schema of %s: %s', (type, path) => {
      expect(queryOf(type)!.response.safeParse(JSON.parse(readFileSync(join(wire, path), 'utf8'))).error).toBe(
        undefined,
      )
    })

    it.each(ANSWERS.filter(([type]) => isFromUpstream(type)))(
      'comes through from an upstream: %s: %s',
      async (type, path) => {
        const text = readFileSync(join(wire, path), 'utf8')
        const world = createWorld()
        world.upstream = () => ok(text)
        const { body } = await world.send({ type, ...queryOf(type)!.example.request })
        expect(body).toBe(servedFor(type, text))
      },
    )
  })
})
