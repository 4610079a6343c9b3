// Cuts results to the size that a model's context has room for, and writes times twice, as Unix milliseconds and as ISO
// 8601. Invariant: a list is cut between rows only, and its cursor continues with the first row that was left out.

import { type Page, writeCursor } from './page-cursor.ts'
import type { Shaped } from './tool.ts'

/** Room for the fields of the envelope: cost, height, age and cursor. */
const ENVELOPE_BYTES = 500
/** Names of fields that have a time, such as `time`, `T`, `lastTime`, `close_time` and `from_ms`. */
const TIME_FIELD = /^[tT]$|[tT]ime(?:stamp)?$|_ms$|^(?:created|expires)$/
/** Unix milliseconds from 2001 to 2096. Durations and heights are outside. */
const FIRST_MS = 1e12
const LAST_MS = 4e12

const isoOf = (ms: number): string => new Date(ms).toISOString()

const isTime = (name: string, value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > FIRST_MS && (value as number) < LAST_MS && TIME_FIELD.test(name)

/** A copy in which every time has a second field, `<name>_iso`. */
export function withIsoTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIsoTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isTime(name, inner)
        ? [
            [name, inner],
            [`${name}_iso`, isoOf(inner)],
          ]
        : [[name, withIsoTimes(inner)]],
    ),
  )
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? 'null').length

interface Fitted {
  readonly result: Readonly<Record<string, unknown>>
  readonly nextCursor?: string
}

/** The result with as many rows as fit, at least one. `startedMs`: time of the first page. */
export function fitted({ fields, list }: Shaped, maxBytes: number, page: Page, startedMs: number): Fitted {
  const fixed = fittedFields(fields, maxBytes - ENVELOPE_BYTES)
  if (list === undefined) return { result: fixed }
  const room = maxBytes - ENVELOPE_BYTES - bytesOf(fixed)
  const rows: unknown[] = []
  let used = 0
  for (const row of list.rows.slice(page.offset)) {
    const whole = withIsoTimes(row)
    const sent = rows.length === 0 ? shortened(whole, room) : whole
    used += bytesOf(sent) + 1
    if (rows.length > 0 && used > room) break
    rows.push(sent)
  }
  const result = { ...fixed, [list.name]: rows }
  const offset = page.offset + rows.length
  if (offset < list.rows.length) return { result, nextCursor: writeCursor({ ...page, offset }, startedMs) }
  if (!list.next) return { result }
  return { result, nextCursor: writeCursor({ offset: 0, startedMs, source: list.next }, startedMs) }
}

/** The fields; while they are too large, the largest is replaced with its outline. */
function fittedFields(fields: Shaped['fields'], maxBytes: number): Shaped['fields'] {
  const sent = withIsoTimes(fields) as Record<string, unknown>
  const whole = new Map(Object.entries(sent).map(([name, value]) => [name, bytesOf(value)]))
  for (let used = bytesOf(sent); used > maxBytes && whole.size > 0; used = bytesOf(sent)) {
    const [[name, bytes] = ['', 0]] = [...whole].sort(([, a], [, b]) => b - a)
    whole.delete(name)
    sent[name] = shortened(sent[name], Math.min(bytes - 1, maxBytes - (used - bytes)))
  }
  return sent
}

/** The value, or an outline of it if it is too large. */
function shortened(value: unknown, maxBytes: number): unknown {
  const bytes = bytesOf(value)
  return bytes <= maxBytes ? value : { too_large_bytes: bytes, parts: outline(value, maxBytes / 2) }
}

const MAX_NAME_LENGTH = 64

/** Kinds and sizes of the first parts of a value. */
function outline(value: unknown, maxBytes: number): Readonly<Record<string, string>> {
  const parts: Record<string, string> = {}
  if (typeof value !== 'object' || value === null) return parts
  let left = maxBytes
  for (const [name, part] of Object.entries(value)) {
    const kind = Array.isArray(part) ? `list of ${part.length}` : typeof part
    const entry = { [name.slice(0, MAX_NAME_LENGTH)]: `${kind}, ${bytesOf(part)} bytes` }
    left -= bytesOf(entry)
    if (left < 0) break
    Object.assign(parts, entry)
  }
  return parts
}
