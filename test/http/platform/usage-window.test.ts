import { describe, expect, it } from 'vitest'
import { parseWith } from '../../../src/core/validation-errors.ts'
import { dayText, usageQuery, usageWindow } from '../../../src/http/platform/usage-window.ts'

const UsageQuery = usageQuery({})

const NOW = Date.parse('2026-03-31T15:00:00Z')
const days = (query: Record<string, string>) => {
  const parsed = parseWith(UsageQuery, query)
  if (!parsed.ok) return parsed.error.map(({ path }) => path).join()
  const window = usageWindow(parsed.value, NOW)
  if (window.ok) return `${dayText(window.value.fromMs)} ${dayText(window.value.toMs - 1)}`
  return window.error.kind === 'bad_field' ? window.error.issues[0]?.path : window.error.kind
}

describe('the window of a usage report', () => {
  it.each([
    [{}, '2026-02-28 2026-03-31'],
    [{ duration: '3' }, '2025-12-31 2026-03-31'],
    [{ duration: '12' }, '2025-03-31 2026-03-31'],
    [{ from: '2026-01-01', to: '2026-01-01' }, '2026-01-01 2026-01-01'],
    [{ from: '2026-03-30' }, '2026-03-30 2026-03-31'],
    [{ duration: '2' }, 'duration'],
    [{ duration: '1', from: '2026-01-01' }, 'duration'],
    [{ to: '2026-01-01' }, 'from'],
    [{ from: '2026-02-02', to: '2026-02-01' }, 'from'],
    [{ from: '2026-02-30', to: '2026-03-01' }, 'from'],
    [{ from: '2026-02-01', to: 'today' }, 'to'],
    [{ from: '2024-01-01', to: '2026-01-01' }, 'from'],
    [{ color: 'red' }, 'color'],
    [{ constructor: 'x' }, 'constructor'],
    [JSON.parse('{"__proto__":"x"}'), '__proto__'],
    [{ color: 'red', duration: '2', from: 'today' }, 'color'],
    [{ duration: '2', from: 'today' }, 'duration'],
    [{ from: 'yesterday', to: 'today' }, 'from'],
    [{ to: 'today' }, 'from'],
  ])('%j is %s', (query, expected) => {
    expect(days(query)).toBe(expected)
  })

  it('suggests a parameter', () => {
    const parsed = parseWith(UsageQuery, { start: '2026-01-01' })
    expect(parsed).toMatchObject({ ok: false, error: [{ message: expect.stringContaining('did you mean "from"?') }] })
  })
})
