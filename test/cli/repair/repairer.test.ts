// Gaps and sources: who is asked, when, and what is recorded, against a gateway in memory.

import { mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BackfillQueue, gapsBetween, type SegmentSpan } from '../../../src/archive/archive/backfill-queue.ts'
import type { ArchivedRange, GapState } from '../../../src/cli/backfill/window.ts'
import { dueRepairs, pauseMs, restMs } from '../../../src/cli/repair/repair-plan.ts'
import {
  type AttemptRecord,
  type RepairPorts,
  repairPass,
  type SourceResult,
} from '../../../src/cli/repair/repairer.ts'
import { repairProgram } from '../../../src/cli/repair.node.ts'
import { err, ok } from '../../../src/core/result.ts'
import { inTurns } from '../../../src/core/timers.client.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { scratch } from '../../kit/program.ts'
import { say } from '../stub.ts'

const POLICY = { minAgeMs: 600_000, pace: 1 }
const MINUTE = 60_000
const END = 1_000

interface Heights {
  readonly from: number
  readonly to: number
}

/** Attempts as the gateway records them: failures are counted apart from other outcomes. */
class Attempts {
  readonly beyond = new Set<number>()
  #all: (AttemptRecord & { tries: number; at_ms: number })[] = []

  /** The last attempt of each source at this gap, or at a larger one. */
  at({ from, to }: Heights) {
    const around = this.#all.filter((one) => one.from <= from && one.to >= to)
    return [...new Map(around.map((one) => [one.source, one])).values()]
  }

  record(attempt: AttemptRecord, nowMs: number): void {
    const isFailure = attempt.outcome === 'failed'
    const before = this.#all.findLast(
      (one) =>
        one.source === attempt.source &&
        one.from <= attempt.from &&
        one.to >= attempt.to &&
        (one.outcome === 'failed') === isFailure,
    )
    this.#all = this.#all.filter((one) => one.source !== attempt.source || one.from !== attempt.from)
    this.#all.push({ ...attempt, tries: (before?.tries ?? 0) + 1, at_ms: nowMs })
    if (attempt.beyond_repair) this.beyond.add(attempt.from)
    else this.beyond.delete(attempt.from)
  }
}

type Source = 'gone' | 'lying' | ReadonlySet<number>

/** A gateway with missing heights below END; every block is a second long. */
class World {
  readonly missing: Set<number>
  readonly asked: string[] = []
  readonly notes: string[] = []
  nowMs = 601_000
  readonly #attempts = new Attempts()
  readonly #sources: Record<string, Source>
  readonly #end: number

  constructor(missing: Iterable<number>, sources: Record<string, Source>, end = END) {
    this.missing = new Set(missing)
    this.#end = end
    this.#sources = sources
  }

  get gaps(): GapState[] {
    const runs: { from: number; to: number }[] = []
    for (const height of [...this.missing].sort((a, b) => a - b)) {
      const last = runs.at(-1)
      if (last?.to === height - 1) last.to = height
      else runs.push({ from: height, to: height })
    }
    return runs.map(({ from, to }) => ({
      from,
      to,
      after_ms: (from - 1) * 1_000,
      before_ms: (to + 1) * 1_000,
      recorded_ms: 1_000,
      beyond_ms: this.#attempts.beyond.has(from) ? this.nowMs : null,
      attempts: this.#attempts.at({ from, to }),
    }))
  }

  ports(): RepairPorts {
    return {
      sources: Object.keys(this.#sources),
      readTarget: async () =>
        ok({
          chain: 'c',
          from: { height: 1, time: 1_000 },
          end: { height: this.#end, time: this.#end * 1_000 },
          gaps: this.gaps,
          nowMs: this.nowMs,
        }),
      importFrom: async (name, _, __, held) => ok(this.#import(name, held)),
      record: async (attempt) => {
        this.#attempts.record(attempt, this.nowMs)
        return ok(null)
      },
      note: (message) => this.notes.push(message),
      isStopped: () => false,
    }
  }

  #import(name: string, held: ArchivedRange): SourceResult {
    this.asked.push(name)
    const source = this.#sources[name]!
    if (source === 'gone') return { kind: 'failed', message: 'no answer' }
    if (source === 'lying') return { kind: 'refused', message: 'contradicts the archive' }
    const found = [...this.missing].filter((height) => !held.has(height) && source.has(height))
    for (const height of found) this.missing.delete(height)
    const sums = { sent: found.length, blocks: found.length, segments: 1, bytes: 1, faults: 0 }
    return { kind: 'read', result: { ...sums, last: null, isStopped: false }, faults: [] }
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

describe('a repair', () => {
  it('asks the sources in order until nothing is missing', async () => {
    const world = new World([...range(10, 19), 30], {
      a: new Set(range(10, 14)),
      b: new Set(range(10, 30)),
      c: new Set(),
    })
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 11, open: 0, beyond: 0 }))
    // Both gaps at once.
    expect(world.asked).toEqual(['a', 'b'])
    expect(world.gaps).toEqual([])
  })

  it('asks a source for the gaps of an hour at once, and for each alone where it is refused', async () => {
    const far = 4_000
    const world = new World([10, 20, far], { lying: 'lying', a: new Set([10, 20, far]) }, far + 10)
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 3, open: 0, beyond: 0 }))
    expect(world.asked).toEqual(['lying', 'a', 'lying', 'lying', 'lying', 'a'])
  })

  it('leaves young gaps alone', async () => {
    const world = new World([10], { a: new Set([10]) })
    world.nowMs = 600_999
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 0, open: 1, beyond: 0 }))
    expect(world.asked).toEqual([])
  })

  it('asks again after growing delays, until no source is left', async () => {
    const world = new World([10, 11], { node: new Set([11]), bucket: 'lying' })
    const due: number[] = []
    for (let minute = 0; minute < 400; minute++) {
      const before = world.asked.length
      await repairPass(world.ports(), POLICY)
      if (world.asked.length > before) due.push(minute)
      world.nowMs += MINUTE
    }
    expect(due).toEqual([0, 10, 30, 70, 150])
    expect(world.gaps).toMatchObject([{ from: 10, to: 10, beyond_ms: expect.any(Number) }])
    expect(world.gaps[0]!.attempts.map(({ source, outcome, tries }) => [source, outcome, tries])).toEqual([
      ['node', 'absent', 5],
      ['bucket', 'refused', 5],
    ])
    expect(world.notes.at(-1)).toMatch(
      /^bucket did not fill the gap 10 to 10: contradicts the archive No source is left/,
    )
  })

  it('asks a source that was never asked, even after another program has given up', async () => {
    const world = new World([10, 11], { a: new Set(), b: new Set([11]) })
    for (let pass = 0; pass < 6; pass++) {
      await repairPass({ ...world.ports(), sources: ['a'] }, POLICY)
      world.nowMs += 400 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ from: 10, beyond_ms: expect.any(Number) }])
    await repairPass({ ...world.ports(), sources: ['b'] }, POLICY)
    expect(world.gaps).toMatchObject([{ from: 10, to: 10 }])
  })

  it('counts the tries of every piece that is left of a gap', async () => {
    const source = new Set<number>()
    const world = new World(range(10, 14), { a: source })
    await repairPass(world.ports(), POLICY)
    world.nowMs += 10 * MINUTE
    await repairPass(world.ports(), POLICY)
    source.add(12)
    world.nowMs += 20 * MINUTE
    await repairPass(world.ports(), POLICY)
    expect(world.gaps.map(({ from, attempts }) => [from, attempts[0]?.tries])).toEqual([
      [10, 3],
      [13, 3],
    ])
  })

  it('is not given up by one program while another still asks its sources', async () => {
    const found = new Set<number>()
    const world = new World([10], { a: new Set(), b: found })
    const only = (source: string) => repairPass({ ...world.ports(), sources: [source] }, POLICY)
    for (let pass = 0; pass < 8; pass++) {
      // The source of the other program was asked later, and less often.
      if (pass > 4) await only('b')
      await only('a')
      world.nowMs += 400 * MINUTE
    }
    const attempts = expect.arrayContaining([expect.objectContaining({ source: 'b', tries: 3 })])
    expect(world.gaps).toMatchObject([{ beyond_ms: null, attempts }])
    found.add(10)
    await only('b')
    expect(world.gaps).toEqual([])
  })

  it('is given up without the sources of a program that no longer runs', async () => {
    const world = new World([10], { a: new Set(), b: 'gone' })
    await repairPass({ ...world.ports(), sources: ['b'] }, POLICY)
    for (let pass = 0; pass < 8; pass++) {
      await repairPass({ ...world.ports(), sources: ['a'] }, POLICY)
      world.nowMs += 400 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ beyond_ms: expect.any(Number) }])
  })

  it('does not count an attempt that the end of the program interrupted', async () => {
    const world = new World([10, 11], { a: new Set([10]) })
    let isStopped = false
    const ports: RepairPorts = {
      ...world.ports(),
      isStopped: () => isStopped,
      importFrom: async (...rest) => {
        const imported = await world.ports().importFrom(...rest)
        isStopped = true
        if (!imported.ok || imported.value.kind !== 'read') return imported
        return ok({ ...imported.value, result: { ...imported.value.result, isStopped } })
      },
    }
    expect(await repairPass(ports, POLICY)).toEqual(ok({ blocks: 1, open: 1, beyond: 0 }))
    expect(world.gaps).toMatchObject([{ from: 11, attempts: [] }])
  })

  it('goes on if another program repairs a gap before the attempt is recorded', async () => {
    const world = new World([10, 20], { a: new Set() })
    const ports = world.ports()
    const record: RepairPorts['record'] = async (attempt) => {
      if (attempt.from !== 20) return ports.record(attempt)
      world.missing.delete(20)
      return err('heights 20 to 20 are not a gap')
    }
    expect(await repairPass({ ...ports, record }, POLICY)).toEqual(ok({ blocks: 0, open: 1, beyond: 0 }))
    expect(world.gaps).toMatchObject([{ from: 10, attempts: [{ tries: 1 }] }])
    const broken = { ...ports, record: async () => err('no answer') }
    world.nowMs += 10 * MINUTE
    expect(await repairPass(broken, POLICY)).toEqual(err('no answer'))
  })

  it('is tried again after the gateway’s clock was set back', async () => {
    const world = new World([10], { a: new Set() })
    world.nowMs = 10_000 * MINUTE
    await repairPass(world.ports(), POLICY)
    world.nowMs = 100 * MINUTE
    await repairPass(world.ports(), POLICY)
    await repairPass(world.ports(), POLICY)
    expect(world.asked).toEqual(['a', 'a'])
    expect(dueRepairs(world.gaps, ['b'], -1_000 * MINUTE, POLICY)).toHaveLength(1)
  })

  it('is never given up while a source cannot be read', async () => {
    const world = new World([10], { a: 'gone', b: new Set() })
    for (let hour = 0; hour < 100; hour++) {
      await repairPass(world.ports(), POLICY)
      world.nowMs += 60 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ beyond_ms: null }])
    // At most every six hours in the end.
    expect(world.asked.filter((name) => name === 'a').length).toBeLessThan(25)
  })

  it('counts failures apart: a source that could not be read is asked as often as any other', async () => {
    const sources: Record<string, Source> = { a: 'gone' }
    const world = new World([10], sources)
    const pass = async () => {
      await repairPass(world.ports(), POLICY)
      world.nowMs += 400 * MINUTE
      const [gap] = world.gaps
      return [gap!.attempts[0]!.tries, gap!.beyond_ms !== null]
    }
    for (let tries = 1; tries <= 6; tries++) expect(await pass()).toEqual([tries, false])
    sources.a = new Set<number>()
    for (let tries = 1; tries <= 5; tries++) expect(await pass()).toEqual([tries, tries === 5])
  })

  it('ends with exactly the heights that no source has, for any gaps and sources', async () => {
    const heights = fc.uniqueArray(fc.integer({ min: 2, max: 40 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(heights, heights, heights, async (missing, a, b) => {
        const world = new World(missing, { a: new Set(a), b: new Set(b) })
        for (let pass = 0; pass < 6; pass++) {
          await repairPass(world.ports(), POLICY)
          world.nowMs += 400 * MINUTE
        }
        expect([...world.missing].sort()).toEqual(missing.filter((one) => !a.includes(one) && !b.includes(one)).sort())
        expect(world.gaps.every(({ beyond_ms }) => beyond_ms !== null)).toBe(true)
        expect(dueRepairs(world.gaps, ['a', 'b'], world.nowMs, POLICY)).toEqual([])
      }),
    )
  })
})

it('the pause after failed passes grows up to an hour', () => {
  expect([0, 1, 2, 9].map((failures) => pauseMs(30_000, failures))).toEqual([30_000, 60_000, 120_000, 3_600_000])
  expect(pauseMs(7_200_000, 3)).toBe(7_200_000)
})

it('a repair leaves the gateway most of its time, and sends at most 360 blocks a second', () => {
  expect([0, 300, 60_000].map((tookMs) => restMs(tookMs, 0))).toEqual([0, 600, 5_000])
  expect([200, 900, 60_000].map((tookMs) => restMs(tookMs, 720))).toEqual([1_800, 1_800, 5_000])
  expect(restMs(200, 100_000)).toBe(5_000)
  expect(restMs(-50, 0)).toBe(0)
})

/** Thirty milliseconds a block, so that a file of an hour has more than 100,000. */
const FILE_MS = Date.UTC(2026, 10, 21, 5)
const FILE = 'node_fills_by_block/hourly/20261121/5'
const PAGE = 1_000
const timeOf = (height: number) => FILE_MS + height * 30
const spanOf = (first: number, last: number) => ({
  first,
  last,
  firstMs: timeOf(first),
  lastMs: timeOf(last),
  epoch: null,
})
const fileOf = (heights: readonly number[]) =>
  heights
    .map((height) => {
      const at = new Date(timeOf(height)).toISOString().slice(0, -1)
      return `${JSON.stringify({ local_time: at, block_time: at, block_number: height, events: [] })}\n`
    })
    .join('')

/** A gateway that writes as the real one does, and a bucket, over HTTP. */
class Target {
  readonly attempts = new Attempts()
  readonly recorded: AttemptRecord[] = []
  readonly pages: number[] = []
  nowMs = Date.UTC(2026, 10, 22)
  requests = 0
  bucket: (response: ServerResponse, isList: boolean) => void = () => undefined
  readonly #spans: SegmentSpan[]
  readonly #queue: BackfillQueue

  constructor(spans: readonly SegmentSpan[]) {
    this.#spans = [...spans]
    this.#queue = new BackfillQueue({
      last: async () => Math.max(...this.#spans.map(({ last }) => last)),
      neighbors: async (first, last) => {
        const below = this.#spans.findLast((span) => span.first < first)?.first ?? 0
        const above = this.#spans.find((span) => span.first > last)?.first ?? last
        return this.#spans.filter((span) => span.first >= below && span.first <= above)
      },
      blocks: async () => [],
      uploaded: async () => null,
      write: async (segments) => {
        this.#spans.push(...segments.map(({ first, last }) => spanOf(first, last)))
        this.#spans.sort((a, b) => a.first - b.first)
        return 1
      },
      bytes: 0,
      maxBytes: null,
      inTurns,
      addWritten: () => undefined,
    })
  }

  get gaps(): GapState[] {
    return gapsBetween(this.#spans).map(({ from, to, afterMs, beforeMs }) => ({
      from,
      to,
      after_ms: afterMs,
      before_ms: beforeMs,
      recorded_ms: 1,
      beyond_ms: this.attempts.beyond.has(from) ? this.nowMs : null,
      attempts: this.attempts.at({ from, to }),
    }))
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    if (pathname.startsWith('/bucket')) return this.bucket(response, pathname === '/bucket/')
    const body = await buffer(request)
    const json = (value: object) => void response.end(JSON.stringify(value))
    if (request.method === 'GET') return json(this.#page(Number(searchParams.get('after'))))
    if (pathname.endsWith('/attempts')) {
      const attempt = JSON.parse(body.toString()) as AttemptRecord
      this.recorded.push(attempt)
      this.attempts.record(attempt, this.nowMs)
      return json({ recorded: true })
    }
    this.requests++
    const lines = gunzipSync(body).toString().split('\n')
    const blocks = lines.map((events) => {
      const { height, time } = JSON.parse(events) as { height: number; time: number }
      return { height, time, epoch: null, known: 'events' as const, events, books: '' }
    })
    json(await this.#queue.write({ source: searchParams.get('source')!, blocks, checkpoint: null }))
  }

  #page(after: number): object {
    const gaps = this.gaps.filter(({ from }) => from >= after).slice(0, PAGE)
    this.pages.push(gaps.length)
    const end = this.#spans.at(-1)!
    return {
      chain: 'c',
      now_ms: this.nowMs,
      from: { height: this.#spans[0]!.first, time: this.#spans[0]!.firstMs },
      before: { height: end.last + 1, time: end.lastMs },
      gaps,
      next: gaps.length === PAGE ? gaps.at(-1)!.to + 1 : null,
    }
  }
}

describe('npx weir repair --once', () => {
  const folder = scratch()
  let target: Target
  let server: HttpServer
  beforeAll(async () => {
    server = await startServer((request, response) => void target.answer(request, response))
  })
  afterAll(() => {
    server.close()
    folder.remove()
  })

  const BUCKET = '--yes s3://bucket/node_fills_by_block'
  const AWS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
  const run = (sources: string) =>
    say(
      (shell) => repairProgram({ ...shell, now: () => target.nowMs }, new AbortController().signal),
      `--url ${server.url} --once --min-age 0 ${sources}`,
      { ADMIN_TOKEN: 'T', AWS_ENDPOINT_URL: server.url, ...AWS },
    )
  /** A node's folder with these blocks, as a source. */
  const nodeOf = (heights: readonly number[]) => {
    mkdirSync(dirname(`${folder.path}/${FILE}`), { recursive: true })
    writeFileSync(`${folder.path}/${FILE}`, fileOf(heights))
    return `node=${folder.path}`
  }
  const denied = (response: ServerResponse) =>
    void response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
  const listed = (response: ServerResponse, bytes: number) =>
    void response.end(`<Contents><Key>${FILE}</Key><Size>${bytes}</Size></Contents>`)

  it.each([
    ['the list', /^s3:\/\/bucket\/node_fills_by_block was rejected by S3 \(403, AccessDenied\)\. Check the AWS keys/],
    [
      'the objects',
      /^node_fills_by_block\S+ cannot be read further \(was rejected by S3 \(403, AccessDenied\)\. Check the AWS/,
    ],
  ])('names a bucket that denies %s, and asks the next source', async (what, message) => {
    target = new Target([spanOf(0, 9), spanOf(40, 60)])
    target.bucket = (response, isList) => (isList && what === 'the objects' ? listed(response, 1) : denied(response))
    const source = nodeOf(range(5, 29))
    const { out, notes, failed } = await run(`${BUCKET} ${source}`)
    expect([out, failed]).toEqual([['Repaired 20 blocks. Gaps: 1 open, 0 beyond repair.'], true])
    expect(target.recorded).toMatchObject([
      { from: 10, to: 39, source: 's3 bucket', outcome: 'failed', message: expect.stringMatching(message) },
      { from: 30, to: 39, source: 'node', outcome: 'partial' },
    ])
    expect(notes.join()).toContain('s3 bucket did not fill the gap 10 to 39: ')
    // It may have the blocks, so the gap is never given up.
    for (let pass = 0; pass < 7; pass++) {
      target.nowMs += 400 * MINUTE
      await run(`${BUCKET} ${source}`)
    }
    expect(target.gaps).toMatchObject([
      {
        from: 30,
        to: 39,
        beyond_ms: null,
        attempts: [
          { source: 's3 bucket', tries: 8 },
          { source: 'node', tries: 8 },
        ],
      },
    ])
  })

  it('keeps the whole blocks of a download that is cut, and completes the gap in a later pass', async () => {
    target = new Target([spanOf(0, 9), spanOf(3_000, 3_009)])
    const file = Buffer.from(fileOf(range(0, 3_005)))
    const half = file.subarray(0, file.length / 2)
    const whole = half.toString().split('\n').length - 1
    let isCut = true
    target.bucket = (response, isList) => {
      if (isList) return listed(response, file.length)
      response.setHeader('content-length', file.length)
      if (isCut) response.write(half, () => response.socket!.end())
      else response.end(file)
    }
    expect((await run(BUCKET)).out).toEqual([`Repaired ${whole - 10} blocks. Gaps: 1 open, 0 beyond repair.`])
    expect(target.gaps).toMatchObject([
      { from: whole, to: 2_999, attempts: [{ outcome: 'failed', message: expect.stringContaining(FILE), tries: 1 }] },
    ])
    isCut = false
    target.nowMs += 10 * MINUTE
    const { out, failed } = await run(BUCKET)
    expect([out, failed]).toEqual([[`Repaired ${3_000 - whole} blocks. Gaps: 0 open, 0 beyond repair.`], false])
  })

  it('repairs more gaps than a page has', async () => {
    target = new Target(range(0, 1_300).map((at) => spanOf(2 * at, 2 * at)))
    const { out } = await run(nodeOf(range(0, 2_600)))
    expect(out).toEqual(['Repaired 1300 blocks. Gaps: 0 open, 0 beyond repair.'])
    expect(target.pages.slice(0, 2)).toEqual([1_000, 300])
    expect(Math.max(...target.pages)).toBe(PAGE)
  })

  it('repairs a gap of 100,000 blocks in requests that the gateway accepts', async () => {
    target = new Target([spanOf(0, 9), spanOf(100_010, 100_019)])
    const { out } = await run(nodeOf(range(0, 100_019)))
    expect(out).toEqual(['Repaired 100000 blocks. Gaps: 0 open, 0 beyond repair.'])
    expect(target.requests).toBeGreaterThan(5)
  })
})
