// The files of examples/monitoring and the text of `GET /metrics`, checked by Prometheus' own promtool. Skipped if
// promtool is not installed (Debian: prometheus).

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../../src/core/counters.ts'
import { formatFor, metricsText } from '../../src/monitor/exposition.ts'
import { metricFamilies } from '../../src/monitor/metric-families.ts'
import { scratch } from '../kit/program.ts'
import { SCRAPE, SOURCES } from './scrape.ts'

const FOLDER = join(import.meta.dirname, '../../examples/monitoring')
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
/** Its output if it succeeds. Otherwise it throws, with the output in the message. */
const promtool = (args: readonly string[], input?: string) =>
  execFileSync('promtool', args, { cwd: FOLDER, encoding: 'utf8', ...(input !== undefined && { input }) })

describe.skipIf(!hasPromtool)(`promtool${hasPromtool ? '' : ' (not installed)'}`, () => {
  it('accepts the rules', () => {
    expect(promtool(['check', 'rules', 'weir.rules.yml'])).toContain('10 rules found')
  })

  it('finds that each rule fires on its fault, and not without', () => {
    expect(promtool(['test', 'rules', 'weir.rules.test.yml'])).toContain('SUCCESS')
  })

  it('parses each query of the dashboard', () => {
    const { panels } = JSON.parse(readFileSync(join(FOLDER, 'weir.dashboard.json'), 'utf8')) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
    }
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const rules = queries.map((expr, index) => ({
      record: `weir:query_${index}`,
      expr: expr.replaceAll('$job', 'weir').replaceAll('$__rate_interval', '1m'),
    }))
    const { path, remove } = scratch()
    const file = join(path, 'queries.yml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }))
    expect(promtool(['check', 'rules', file])).toContain(`${queries.length} rules found`)
    remove()
  })

  it('finds nothing wrong with the metrics', () => {
    const text = metricsText(metricFamilies(SCRAPE, SOURCES), formatFor())
    expect(text.match(/^# TYPE \w+ counter$/gm)).toHaveLength(Object.keys(COUNTERS).length)
    expect(promtool(['check', 'metrics'], text)).toBe('')
  })
})
