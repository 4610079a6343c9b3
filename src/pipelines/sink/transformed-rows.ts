// What transforms made of a batch, as rows to be delivered. Laws: `_kind`, `_key`, `_height` and `_time` tell a destination where it
// stands, so that no transform can invent them: each is what a row of the batch has, a key may go on behind one, and no key comes
// twice; rows that are no data pass transforms by, and stand first.

import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import type { Row } from '../topics/topic.ts'
import type { BatchRows } from './delivery-state.ts'

type Rows = Pick<BatchRows, 'rows' | 'texts'>
const PREVIEW_CHARS = 80

/** `made`: JSON of each row. `id`: keys of rows without a key of their own begin with it. The error is for the owner. */
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
    if (_kind !== 'row')
      return `_kind is ${preview(_kind)}: leave the column out, it is "row" in every row of a transform`
    if (typeof _key !== 'string' || !this.#isDerivedKey(_key))
      return `_key is ${preview(_key)}: select the _key of a row of the batch, alone or with ":" and more behind it, or leave it out`
    if (this.#seen.size === this.#seen.add(_key).size)
      return `_key ${preview(_key)} is in two rows: put ":" and what tells them apart behind it, or leave the column out`
    if (!this.#heights.has(_height))
      return `_height is ${preview(_height)}: select the _height of a row of the batch, or leave it out`
    if (!this.#times.has(_time))
      return `_time is ${preview(_time)}: select the _time of a row of the batch, or leave it out`
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
  return visible(JSON.stringify(value) ?? 'not there').slice(0, PREVIEW_CHARS)
}
