// What a batch is: whole blocks, as many as fit, the same whoever assembles it.

import { describe, expect, it } from 'vitest'
import type { Pipeline, StoredPipeline } from '../../../src/pipelines/pipeline.ts'
import { FatalPipelineError } from '../../../src/pipelines/pipeline.ts'
import {
  type AssembledBatch,
  Assembler,
  type BatchLimits,
  type ReaderState,
} from '../../../src/pipelines/sink/batch-assembler.ts'
import { changesOf, desiredStateOf } from '../../../src/pipelines/sink/sink-record.client.ts'
import type { SourceItem, StartPosition } from '../../../src/pipelines/sink/source.ts'
import { endOf, startOf } from '../../../src/pipelines/sink/source.ts'
import { selectTopic } from '../../../src/pipelines/topics/catalogue.ts'
import { keyedRows, type TopicBlock, type TopicFold } from '../../../src/pipelines/topics/topic.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'

const ROWS_A_BLOCK = 3
const fold: TopicFold = {
  parse: (line) => JSON.parse(line) as TopicBlock,
  rows: (block) =>
    keyedRows(
      block,
      [1, 2, 3].map((at) => [`${at}`, { pad: 'x'.repeat(80) }] as const),
    ),
  onGap: () => undefined,
  state: () => null,
}
const blocks = (from: number, to: number): SourceItem[] =>
  Array.from({ length: to - from + 1 }, (_, at) => {
    const height = from + at
    return { height, line: JSON.stringify({ height, time: height * 1_000, epoch: 'e' }) }
  })
const gap = (from: number, to: number): SourceItem => ({ from, to, why: 'lost' })
/** `pieces` as they come: what is behind the head comes with the next call. */
const assembler = (place: StartPosition, ...turns: readonly (readonly SourceItem[])[]) => {
  const waiting = [...turns]
  async function* next(): AsyncGenerator<SourceItem> {
    yield* waiting.shift() ?? []
  }
  const at: ReaderState = { place, epoch: null, timeMs: 0, fold: null }
  return new Assembler({ items: next, retryMs: 0 }, fold, at, () => 0)
}
const most = (over: Partial<BatchLimits> = {}): BatchLimits => ({
  rows: 1e9,
  chars: 1e9,
  blocks: 1e9,
  untilMs: 1,
  ...over,
})

describe('a batch', () => {
  // PIPE-5
  it.each([
    [{ rows: 7 }, 12],
    [{ chars: 500 }, 11],
    [{ blocks: 5 }, 14],
    [{ untilMs: 0 }, null],
    [{}, 20],
  ])('limited to %j ends with the block that reaches the limit', async (over, to) => {
    const taken = await assembler({ height: 10 }, blocks(10, 20)).take(null, null, most(over))
    expect(taken && [taken.from, taken.to, taken.rows.length, taken.isHead]).toEqual(
      to === null ? null : [10, to, (to - 9) * ROWS_A_BLOCK, to === 20],
    )
    expect(taken?.chars).toBe(taken?.texts.join('').length)
  })

  it('that ends because the log requested a delay is not at the newest block', async () => {
    async function* pieces() {
      yield* blocks(10, 12)
    }
    const at: ReaderState = { place: { height: 10 }, epoch: null, timeMs: 0, fold: null }
    const taken = await new Assembler({ items: pieces, retryMs: 700, isBehind: true }, fold, at, () => 0).take(
      null,
      null,
      most(),
    )
    expect([taken!.to, taken!.isHead]).toEqual([12, false])
  })

  it('with a fixed range covers it regardless of limits, and the next batch follows it', async () => {
    const one = assembler({ height: 10 }, [...blocks(10, 12), gap(13, 18), ...blocks(19, 20)])
    const first = await one.take(null, 15, most({ rows: 1 }))
    expect([first!.from, first!.to, first!.rows.at(-1)!._key]).toEqual([10, 15, 'gap:13-15'])
    const second = await one.take(null, null, most())
    expect([second!.from, second!.to, second!.rows[0]!._key]).toEqual([16, 20, 'gap:16-18'])
  })

  // PIPE-3
  it('with a fixed range is returned only once all its blocks are available, and is then the same', async () => {
    const one = assembler({ height: 10 }, blocks(10, 12), [], blocks(13, 20))
    expect([await one.take(null, 15, most()), await one.take(null, 15, most())]).toEqual([null, null])
    const { from, to, rows } = (await one.take(null, 15, most()))!
    expect([from, to, rows.length]).toEqual([10, 15, 6 * ROWS_A_BLOCK])
  })

  // PIPE-6
  it('contains a gap instead of an unreadable archived block', async () => {
    const archived = (height: number, line: string): SourceItem => ({ height, line, isArchived: true })
    const lines = [archived(12, 'no JSON\n'), archived(13, 'null'), archived(14, '{"height":15,"time":1}')]
    const taken = await assembler({ height: 10 }, [...blocks(10, 11), ...lines, ...blocks(15, 15)]).take(
      null,
      null,
      most(),
    )
    expect(taken!.rows.map(({ _key }) => _key)).toEqual([
      ...[10, 11].flatMap((height) => [1, 2, 3].map((at) => `${height}:${at}`)),
      'gap:12-14',
      ...[1, 2, 3].map((at) => `15:${at}`),
    ])
    expect(taken!.rows[6]).toMatchObject({ _reason: 'the archive of these blocks is damaged' })
  })

  // PIPE-12
  it.each(['no JSON\u0000', '{"height":13}', 'null'])(
    'ends before a block of the log that cannot be read (%j), which is said',
    async (line) => {
      const one = assembler({ height: 10 }, [...blocks(10, 11), { height: 12, line }, ...blocks(13, 13)])
      expect(await one.take(null, null, most())).toMatchObject({ from: 10, to: 11, isHead: false, isEnd: false })
      const failure = await one.take(null, null, most()).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(FatalPipelineError)
      expect((failure as Error).message).toMatch(/^Block 12 .*"execution_start_from" to "13"/)
      expect((failure as Error).message).not.toContain('\u0000')
    },
  )

  it('whose rows cannot be built is an error', async () => {
    const rows = () => {
      throw new TypeError('x of undefined')
    }
    const at: ReaderState = { place: { height: 10 }, epoch: null, timeMs: 0, fold: null }
    const pieces = async function* () {
      yield* blocks(10, 11)
    }
    const taking = new Assembler({ items: pieces, retryMs: 0 }, { ...fold, rows }, at, () => 0).take(null, null, most())
    await expect(taking).rejects.toThrow(/^Block 10 .*: x of undefined\. /)
  })

  // PIPE-6
  it('reports adjacent missing blocks as one gap', async () => {
    const { rows } = (await assembler({ height: 1 }, [gap(1, 2), gap(3, 9), ...blocks(10, 10), gap(11, 11)]).take(
      null,
      null,
      most(),
    ))!
    expect(rows.filter(({ _kind }) => _kind === 'gap')).toMatchObject([
      { _from: 1, _height: 9, _reason: 'lost' },
      { _from: 11, _height: 11, _time: 10_000 },
    ])
  })

  // PIPE-8
  it.each([
    [{ first: true }, 10],
    [{ timeMs: 12_500 }, 13],
    [{ timeMs: 1 }, 10],
  ] as const)('that begins at %j begins there, and nothing is missing before', async (place, from) => {
    const taken = await assembler(place, [gap(0, 9), ...blocks(10, 14)]).take(null, null, most())
    expect([taken!.from, taken!.rows[0]!._kind]).toEqual([from, 'row'])
  })

  // PIPE-9
  it.each([
    [{ height: 12 }, 12, true],
    [{ timeMs: 12_999 }, 12, true],
    [{ height: 17 }, 17, true],
    [{ height: 99 }, 20, false],
  ] as const)('ends with %j', async (end, to, isEnd) => {
    const one = assembler({ height: 10 }, [...blocks(10, 14), gap(15, 18), ...blocks(19, 20)])
    const taken = await one.take(end, null, most())
    expect([taken!.to, taken!.isEnd]).toEqual([to, isEnd])
    if (isEnd && 'height' in end) expect(await one.take(end, null, most())).toMatchObject({ rows: [], isEnd: true })
  })

  it('is null while no block is available, and continues when one is', async () => {
    const one = assembler({ height: 10 }, [], blocks(10, 11))
    expect(await one.take(null, null, most())).toBeNull()
    expect((await one.take(null, null, most()))!.to).toBe(11)
  })

  it('with a block of a different height than requested is an error', async () => {
    const wrong: SourceItem = { height: 10, line: '{"height":11,"time":1}' }
    await expect(assembler({ height: 10 }, [wrong]).take(null, null, most())).rejects.toThrow('found block 11 instead')
  })
})

// PIPE-8, PIPE-9
it('positions are read as they are written', () => {
  expect(['', 'latest', 'earliest', '700', '2026-11-24T00:00:00Z'].map(startOf)).toEqual([
    ...['now', 'now', { first: true }, { height: 700 }, { timeMs: Date.UTC(2026, 10, 24) }],
  ])
  const ends = ['', 'latest', '700', '2026-11-24T00:00:00+01:00'].map((execution_stop_from) =>
    endOf({ execution_mode: 'bounded', execution_stop_from }),
  )
  expect(ends).toEqual(['now', 'now', { height: 700 }, { timeMs: Date.UTC(2026, 10, 23, 23) }])
  expect(endOf({ execution_mode: 'continuous', execution_stop_from: '' })).toBeNull()
})

it('the effect of a changed record follows from the changed fields', () => {
  const before = {
    topic: 'fills',
    execution_start_from: '',
    execution_stop_from: '',
    filter: null,
    transforms: {},
    name: 'a',
  }
  const after = (over: object) =>
    changesOf(before as unknown as StoredPipeline, { ...before, ...over } as unknown as StoredPipeline)
  expect(after({ name: 'b', status: 'paused' })).toEqual([])
  expect(after({ sealed: 'another' })).toEqual(['rows'])
  expect(after({ execution_stop_from: '9', transforms: { a: 'SELECT 1' } })).toEqual(['end', 'rows'])
  expect(after({ execution_start_from: '9', transforms: { a: 'SELECT 1' } })).toEqual(['start'])
})

// PIPE-5
it('batches are small for servers that accept only small bodies', () => {
  const chars = ['webhook', 'kafka', 'postgres', 's3'].map(
    (type) => desiredStateOf({ status: 'running', on_failure: 'pause', destination_type: type } as Pipeline).maxChars,
  )
  expect(chars).toEqual([524_288, 524_288, 4_194_304, 4_194_304])
})

// PIPE-5
it('fills of a dense block of one wallet come once each and in order, in one batch', async () => {
  const [user, fill] = EXAMPLE_FILL
  const chosen = selectTopic({ topic: 'fills', filter: { type: 'userFills', addresses: [user] } })
  if (!chosen.ok) throw new Error(chosen.error.message)
  const { definition, interest } = chosen.value
  const counts = [1_250, 2_500, 1_250]
  const items = counts.map((count, at): SourceItem => {
    // Dust fills have no id of their own.
    const fills = Array.from({ length: count }, (_, i) => [
      user,
      { ...fill, tid: i % 50 === 0 ? 0 : i, oid: at * 10_000 + i },
    ])
    const height = 10 + at
    return {
      height,
      line: JSON.stringify({ v: 1, t: 'events', epoch: 'e', height, time: height, fills, ledger: [], funding: [] }),
    }
  })
  async function* source() {
    yield* items
  }
  const at: ReaderState = { place: { height: 10 }, epoch: null, timeMs: 0, fold: null }
  const one = new Assembler({ items: source, retryMs: 0 }, definition.open(interest, null), at, () => 0)
  const batches: AssembledBatch[] = []
  for (let batch = await one.take(null, null, most({ rows: 1_000 })); batch; ) {
    batches.push(batch)
    batch = await one.take(null, null, most({ rows: 1_000 }))
  }
  expect(batches.map(({ from, to, rows }) => [from, to, rows.length])).toEqual(
    counts.map((count, i) => [10 + i, 10 + i, count]),
  )
  const rows = batches.flatMap((batch) => batch.rows)
  expect(rows.map(({ oid }) => oid)).toEqual(
    counts.flatMap((count, i) => Array.from({ length: count }, (_, n) => i * 10_000 + n)),
  )
  expect(new Set(rows.map(({ _key }) => _key)).size).toBe(5_000)
})
