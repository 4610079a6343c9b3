// Text of the request log: one JSON line per batch and key. Calls of a line that differ only in time, duration and id
// share the rest of their fields, so a call takes about 35 bytes.

import { keyHashOf } from '../../core/ids.ts'
import type { LoggedCall } from './log-api.ts'

/** Fields that calls of a line share. */
type Kind = readonly [product: LoggedCall['product'], type: string, status: number, code: string, micro: number]
type Row = readonly [afterMs: number, kind: number, ms: number | null, requestId: string]
/** Times of rows count from `sinceMs`. */
type Line = readonly [keyHash: string, sinceMs: number, kinds: readonly Kind[], rows: readonly Row[]]

/** The line of calls of one key, at least one, with its line break. */
export function lineOf(calls: readonly LoggedCall[]): string {
  const sinceMs = Math.min(...calls.map(({ atMs }) => atMs))
  const kinds: Kind[] = []
  const known = new Map<string, number>()
  const rows = calls.map(({ atMs, product, type, status, code, micro, ms, requestId }): Row => {
    const kind: Kind = [product, type, status, code, micro]
    const name = JSON.stringify(kind)
    const number = known.get(name) ?? kinds.push(kind) - 1
    known.set(name, number)
    return [atMs - sinceMs, number, ms, requestId]
  })
  return `${JSON.stringify([calls[0]?.keyHash ?? '', sinceMs, kinds, rows] satisfies Line)}\n`
}

/** Calls of all lines, in the order in which they arrived. */
export function callsOf(lines: string): LoggedCall[] {
  return linesOf(lines).flatMap((line) => {
    const [keyHash, sinceMs, kinds, rows] = JSON.parse(line) as Line
    return rows.map(([afterMs, kind, ms, requestId]): LoggedCall => {
      const [product, type, status, code, micro] = kinds[kind] as Kind
      return { keyHash: keyHashOf(keyHash), atMs: sinceMs + afterMs, product, type, status, code, micro, ms, requestId }
    })
  })
}

/** Lines with a call at or after `sinceMs`, and the time of their oldest call. */
export function linesSince(lines: string, sinceMs: number): { readonly lines: string; readonly sinceMs: number } {
  const kept = linesOf(lines)
    .map((line) => ({ line, calls: callsOf(line) }))
    .filter(({ calls }) => calls.some(({ atMs }) => atMs >= sinceMs))
  return {
    lines: kept.map(({ line }) => `${line}\n`).join(''),
    sinceMs: Math.min(...kept.flatMap(({ calls }) => calls.map(({ atMs }) => atMs))),
  }
}

const linesOf = (lines: string) => lines.split('\n').filter((line) => line !== '')
