// Checks the output of transforms. Invariants: transforms cannot invent `_kind`, `_key`, `_height` or `_time`, which
// tell a destination its position: values must come from the batch, keys may have a suffix and are unique; gap and
// reset rows bypass transforms and are sent first.

import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import type { Row } from '../topics/topic.ts'
import type { BatchRows } from './delivery-state.ts'

type Rows = Pick<BatchRows, 'rows' | 'texts'>
const PREVIEW_CHARS = 80

/** `output`: JSON of each row. `id`: prefix of generated keys. The error is for the owner. */
export function transformedRows({ rows, texts }: Rows, output: readonly string[], id: string): Result<Rows, string> {
  const data = rows.filter(({ _kind }) => _kind === 'row')
  const reserved = new ReservedColumns(data, id)
  const own: Row[] = []
  for (const text of output) {
    const row = JSON.parse(text) as Row
    const wrong = reserved.problemOf(row)
    if (wrong !== null) return err(wrong)
    own.push(row)
  }
  const notes = rows.filter(({ _kind }) => _kind !== 'row')
  const noteTexts = texts.filter((_, at) => rows[at]?._kind !== 'row')
  return ok({ rows: [...notes, ...own], texts: [...noteTexts, ...output] })
}

class ReservedColumns {
  readonly #keys: ReadonlySet<string>
  readonly #heights: ReadonlySet<number>
  readonly #times: ReadonlySet<number>
  readonly #id: string
  readonly #seen = new Set<string>()

  constructor(data: readonly Row[], id: string) {
    this.#keys = new Set(data.map(({ _key }) => _key))
    this.#heights = new Set(data.map(({ _height }) => _height))
    this.#times = new Set(data.map(({ _time }) => _time))
    this.#id = id
  }

  problemOf({ _kind, _key, _height, _time }: Row): string | null {
    if (_kind !== 'row') return `_kind is ${preview(_kind)}, but must be "row". Omit the column`
    if (typeof _key !== 'string' || !this.#isDerivedKey(_key))
      return `_key is ${preview(_key)}. Select the _key of a batch row, optionally followed by ":" and a suffix, or omit the column`
    if (this.#seen.size === this.#seen.add(_key).size)
      return `_key ${preview(_key)} occurs in two rows. Append ":" and a unique suffix, or omit the column`
    if (!this.#heights.has(_height))
      return `_height is ${preview(_height)}. Select the _height of a batch row, or omit the column`
    if (!this.#times.has(_time))
      return `_time is ${preview(_time)}. Select the _time of a batch row, or omit the column`
    return null
  }

  #isDerivedKey(key: string): boolean {
    if (this.#keys.has(key) || key.startsWith(`${this.#id}:`)) return true
    for (let at = key.lastIndexOf(':'); at > 0; at = key.lastIndexOf(':', at - 1))
      if (this.#keys.has(key.slice(0, at))) return true
    return false
  }
}

function preview(value: unknown): string {
  return visible(JSON.stringify(value) ?? 'missing').slice(0, PREVIEW_CHARS)
}
