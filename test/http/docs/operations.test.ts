// Operator pages compared with the code: the example of sources and the monthly cost.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dollarsPerMonth } from '../../../src/http/platform/month-bill.ts'
import { parseSources } from '../../../src/upstream/sources.ts'

const read = (path: string) => readFileSync(new URL(`../../../docs/operators/${path}`, import.meta.url), 'utf8')

it('the example of UPSTREAMS is valid', () => {
  const sources = parseSources(/^UPSTREAMS = '''$([^']+)'''$/m.exec(read('guides/configure-sources.md'))![1]!)
  expect(sources.ok && sources.value.map(({ name, types, budget }) => [name, types?.length, budget])).toEqual([
    ['node', 28, undefined],
    ['public', undefined, 1200],
  ])
})

it.each([
  ['a gateway with a feeder and 100 coins', 0, 100, 4, 0, 0],
  ['the same with 400 such coins', 0, 400, 4, 0, 0],
  ['each relay', 1, 100, 4, 0, 22],
  ['each further hub', 0, 100, 5, 0, 22],
  ['each coin with subscribers of order-level books', 0, 100, 4, 1, 22],
])('the monthly cost matches the page: %s', (row, relays, coins, hubs, orderBooks, beside) => {
  const [, dollarsText] = new RegExp(`^\\| ${row}.*\\| \\$([\\d.]+) (?:in total|in addition) \\|$`, 'm').exec(
    read('reference/costs.md'),
  )!
  const dollars = dollarsPerMonth({ blocksPerSecond: 14.5, hubs, relays, coins, orderBooks }) - beside
  expect(Math.abs(dollars / Number(dollarsText) - 1)).toBeLessThan(0.005)
})
