// The book of the Python package compared with ours: equal outcomes, reasons and levels after each change, request and
// snapshot, whatever was lost, repeated, replaced or false.

import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { CoinBook, type Snapshot } from '../../src/client/bootstrap.ts'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import { PYTHON, runPython } from '../conformance/package/python.ts'

const level = fc
  .record({ px: fc.integer({ min: 1, max: 30 }), n: fc.nat({ max: 3 }) })
  .map(({ px, n }): Level => ({ px: `${px}.5`, sz: n === 0 ? '0' : `${n}.0`, n }))
const unique = fc.uniqueArray(level, { maxLength: 6, selector: ({ px }) => px })
const change = fc.record({
  levels: fc.tuple(unique, unique),
  harm: fc.constantFrom(null, null, null, null, null, null, 'lost', 'repeated', 'epoch', 'lie', 'other coin'),
})
/** `fetch`: the client requests a snapshot. `snapshot`: one of the book some changes ago arrives. */
const event = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 1, arbitrary: fc.constant('fetch' as const) },
  { weight: 2, arbitrary: fc.record({ ago: fc.constantFrom(0, 0, 0, 1, 2, 5) }) },
)
const story = fc.array(event, { minLength: 4, maxLength: 24 })

interface Batch {
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly change: {
    readonly seq: number
    readonly prev_seq: number
    readonly levels: Levels
    readonly checksum: number
  } | null
}
type Action = { readonly batch: Batch } | { readonly snapshot: Snapshot } | { readonly fetch: true }
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never

function actionsOf(events: readonly Event[]): Action[] {
  const book = LevelBook.of([[], []])
  let epoch = 0
  let seq = 10
  const states = [snapshotOf()]
  function snapshotOf(): Snapshot {
    const levels = book.levels().map((side) => [...side]) as Levels
    return { coin: 'BTC', epoch: `e${epoch}`, height: seq, time: seq, seq, levels }
  }
  return events.flatMap((each): Action[] => {
    if (each === 'fetch') return [{ fetch: true }]
    if ('ago' in each) return [{ snapshot: states.at(-1 - each.ago) ?? states[0]! }]
    const { harm } = each
    if (harm === 'epoch') epoch++
    if (harm === 'other coin') return [{ batch: { epoch: `e${epoch}`, height: seq, time: seq, change: null } }]
    const levels = [...each.levels] as Levels
    book.apply(levels)
    const prev = seq++
    states.push(snapshotOf())
    const checksum = (bookChecksum(book) + (harm === 'lie' ? 1 : 0)) >>> 0
    const batch = { epoch: `e${epoch}`, height: seq, time: seq, change: { seq, prev_seq: prev, levels, checksum } }
    if (harm === 'lost') return []
    return harm === 'repeated' ? [{ batch }, { batch }] : [{ batch }]
  })
}

/** What our book does. */
function stepsOf(actions: readonly Action[]) {
  const book = new CoinBook('BTC')
  return actions.map((action) => {
    const outcome = stepOf(book, action)
    return [outcome === 'live' ? 'in step' : outcome, book.live ? '' : book.why, book.levels(), book.checks]
  })
}

function stepOf(book: CoinBook, action: Action) {
  if ('snapshot' in action) return book.snapshot(action.snapshot)
  if ('fetch' in action) {
    book.fetchStarted()
    return null
  }
  const { change, ...head } = action.batch
  return book.batch(head, change && { ...change, prevSeq: change.prev_seq })
}

it.skipIf(PYTHON === undefined)('is as strict as ours', async () => {
  const stories = fc.sample(story, { numRuns: 1_000, seed: 7 }).map(actionsOf)
  const program = join(import.meta.dirname, 'python-book.py')
  const found = JSON.parse(await runPython([program], JSON.stringify(stories))) as unknown[][]
  const expected = stories.map(stepsOf)
  expect(found).toEqual(expected)
  const outcomes = expected.flat().map(([outcome]) => outcome)
  for (const outcome of ['applied', 'buffered', 'dropped', 'refetch', 'differs', 'in step', null])
    expect(outcomes.filter((each) => each === outcome).length, String(outcome)).toBeGreaterThan(50)
})
