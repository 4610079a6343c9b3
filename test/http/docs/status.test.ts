// The operators' pages describe exactly the fields, states and reasons of `/status` and of the feeder's own status.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { feederStatusTable, fieldsOf, statusTable } from '../../../scripts/field-table.ts'
import { withPart } from '../../../scripts/marked.ts'
import { describeField, parseFieldDescription } from '../../../src/core/field-description.ts'
import { FEEDER_STATES, StatusShape as FeederStatusShape } from '../../../src/feeder/status.ts'
import { FEED_STATES, GAP_REASONS, StatusShape } from '../../../src/protocol/feed/status-shape.ts'

const page = readFileSync(new URL('../../../docs/operators/reference/status.md', import.meta.url), 'utf8')
const openapi = JSON.parse(readFileSync(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8'))

/** Codes in the first column of the table below a heading. */
const namesUnder = (heading: string) => {
  const [, table = ''] = page.split(`\n| ${heading} |`)
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2)
  return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
}

describe('docs/operators/reference/status.md', () => {
  it.each([
    ['status', statusTable()],
    ['feeder status', feederStatusTable()],
  ])('has the table %s according to the schema', (name, table) => {
    expect(withPart(page, name, table)).toBe(page)
  })

  it.each([
    ['State', FEED_STATES],
    ['State of a feeder', FEEDER_STATES],
    ['Why', GAP_REASONS],
  ] as const)('has exactly one row per value under %s', (heading, values) => {
    expect(namesUnder(heading).sort()).toEqual([...values].sort())
  })
})

describe.each([
  ['/status', StatusShape],
  ['the feeder', FeederStatusShape],
])('field of %s', (_, shape) => {
  const fields = fieldsOf(shape as z.ZodType)
  it('has a description', () => {
    expect(fields.length).toBeGreaterThan(10)
    expect(fields.filter(({ description }) => parseFieldDescription(description).meaning.length < 3)).toEqual([])
  })

  it('with a healthy value says what to do about other values', () => {
    const parsed = fields.map(({ description }) => parseFieldDescription(description))
    expect(
      parsed.filter(({ expected, otherwise }) => otherwise !== '' && expected === '').map(({ meaning }) => meaning),
    ).toEqual(shape === StatusShape ? ['reason'] : [])
  })
})

it('openapi.json has the same descriptions of /status', () => {
  const { get } = openapi.paths['/status']
  expect(get.security).toEqual([])
  const { properties } = get.responses[200].content['application/json'].schema
  expect(properties.lagMs.description).toContain('our clock minus `time`')
  expect(properties.feeders.items.properties.heardMs.description).toContain('Otherwise: ')
})

it('descriptions survive their schema', () => {
  const { description } = describeField(z.string(), 'what it is', 'good', 'do it')
  expect(parseFieldDescription(description!)).toEqual({ meaning: 'what it is', expected: 'good', otherwise: 'do it' })
  expect(parseFieldDescription(describeField(z.string(), 'a fact').description!)).toEqual({
    meaning: 'a fact',
    expected: '',
    otherwise: '',
  })
})
