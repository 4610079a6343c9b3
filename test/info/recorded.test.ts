// Recorded responses of the real exchange match our response schemas.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { queryOf } from '../../src/info/queries/catalogue.ts'
import { ANSWERS, WIRES } from '../fixtures/wire.ts'

describe.each(WIRES)('recorded responses of the exchange: %s', (_, wire, isAbsent) => {
  it.skipIf(isAbsent).each(ANSWERS)('fit the schema of %s: %s', (type, path) => {
    const answer = JSON.parse(readFileSync(join(wire, path), 'utf8'))
    expect(queryOf(type)!.response().safeParse(answer).error).toBeUndefined()
  })
})
