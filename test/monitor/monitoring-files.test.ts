// The files of examples/monitoring: every metric exists, and each rule and panel has what it needs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { METRIC_NAMES } from './metric-names.ts'

const FOLDER = join(import.meta.dirname, '../../examples/monitoring')
const text = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const metricsIn = (name: string) => [...new Set(text(name).match(/\bweir_\w+/g) ?? [])]

it.each(['weir.rules.yml', 'weir.rules.test.yml', 'weir.dashboard.json'])(
  '%s names only metrics of /metrics',
  (name) => {
    const names = metricsIn(name)
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((each) => !METRIC_NAMES.includes(each))).toEqual([])
  },
)

it('there are ten rules, each with a summary and tests in which it is silent and fires', () => {
  const rules = [...text('weir.rules.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect(rules).toHaveLength(10)
  expect(text('weir.rules.yml').match(/summary:/g)).toHaveLength(10)
  for (const tested of [/alertname: (\w+)/g, /\{alertname="(\w+)"\}/g])
    expect([...text('weir.rules.test.yml').matchAll(tested)].map(([, name]) => name)).toEqual(rules)
})

it('the dashboard has panels with queries for all groups of metrics', () => {
  const { panels } = JSON.parse(text('weir.dashboard.json')) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
  }
  expect(panels.every(({ targets }) => targets.length > 0 && targets.every(({ expr }) => expr.includes('$job')))).toBe(
    true,
  )
  const unused = METRIC_NAMES.filter((name) => !text('weir.dashboard.json').includes(name))
  // Shown in rules, or of use only for a query by hand.
  expect(unused).toEqual([
    ...['weir_request_duration_seconds_sum', 'weir_request_duration_seconds_count', 'weir_feeders_connected'],
    ...['weir_gaps', 'weir_disagreements', 'weir_relays', 'weir_source_up'],
  ])
})
