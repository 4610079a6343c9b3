// Files of the archive: how fast they are made, and what a page of the newest fills costs a user with two of them, one with a
// seventh of all, and one that nobody knows, beside one question to D1 and one read from R2.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { bundle } from '../../src/launch/build.node.ts'
import type { FilesInvention, FilesRead } from './counted/files-bench.ts'
import { type Spread, spreadOf } from './statistics.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const ROOT = join(import.meta.dirname, '../..')
const MIGRATIONS = join(ROOT, 'schemas/d1/history')
/** Of the exchange, each minute. */
const FILLS_A_MINUTE = 4_900
const FILLS_A_SECOND = 80
const GOAL_RATE = 20 * FILLS_A_SECOND
const USERS = 50_000
const [HEAVY, QUIET, BUILDER, UNKNOWN] = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`) as [
  ...[string, string, string, string],
]
const QUIET_AT = [1, 9]
/** Minutes that are archived of each day, in two hours. */
const MINUTES_A_DAY = 8
const DAY_MINUTES = 24 * 60
const START_MINUTE = Date.UTC(2026, 0, 1) / 60_000
const READS = 200

export async function fileLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-files-'))
  await bundle(ROOT, 'wrangler.live.toml', join(ROOT, 'dist/bench/files'), 'test/bench/counted/files.worker.ts')
  const miniflare = start(folder)
  try {
    const { origin } = await miniflare.ready
    const ask = async (path: string, body?: unknown) => {
      const answer = await fetch(`${origin}/${path}`, { method: 'POST', body: JSON.stringify(body ?? null) })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    await migrate(miniflare)
    const segments = (quick ? 3 : 10) * MINUTES_A_DAY + 1
    for (let segment = 0; segment < segments; segment++) await ask('archive', inventionOf(segment))
    const fills = segments * FILLS_A_MINUTE
    say(`${whole(fills)} fills are archived`)
    const [startMs, slowest] = [performance.now(), { ms: 0 }]
    for (let isMore = true; isMore; ) {
      const beganMs = performance.now()
      isMore = (await ask('turn')) as boolean
      slowest.ms = Math.max(slowest.ms, performance.now() - beganMs)
    }
    const rate = fills / ((performance.now() - startMs) / 1000)
    const bare = await readOften(ask, 'bare')
    const lines: Line[] = [
      {
        what: `compaction of ${whole(fills)} fills of ${whole(USERS)} users into minutes, hours and days; the slowest turn ${ms(slowest.ms)}`,
        bare: `${FILLS_A_SECOND} fills/s (the exchange)`,
        weir: `${whole(rate)} fills/s`,
        ratio: times(rate / FILLS_A_SECOND),
        goal: '≥ 20×',
        met: rate >= GOAL_RATE,
      },
    ]
    for (const [name, address] of Object.entries({ quiet: QUIET, heavy: HEAVY, unknown: UNKNOWN }))
      lines.push(lineOf(name, await readOften(ask, address), bare.spread))
    return lines
  } finally {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function start(folder: string): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      name: 'files',
      modules: true,
      scriptPath: join(ROOT, 'dist/bench/files/files.worker.js'),
      compatibilityDate: '2026-11-01',
      r2Buckets: ['ARCHIVE'],
      d1Databases: ['HISTORY'],
      r2Persist: join(folder, 'r2'),
      d1Persist: join(folder, 'd1'),
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
    }),
  )
}

async function migrate(miniflare: Miniflare): Promise<void> {
  const db = await miniflare.getD1Database('HISTORY')
  for (const file of readdirSync(MIGRATIONS).sort()) {
    const sql = readFileSync(join(MIGRATIONS, file), 'utf8').replaceAll(/^--.*$/gm, '')
    for (const statement of sql.split(';')) if (statement.trim() !== '') await db.prepare(statement).run()
  }
}

function inventionOf(segment: number): FilesInvention {
  const [day, at] = [Math.floor(segment / MINUTES_A_DAY), segment % MINUTES_A_DAY]
  const minute = START_MINUTE + day * DAY_MINUTES + (at < MINUTES_A_DAY / 2 ? at : 600 + at)
  const people = { users: USERS, heavy: HEAVY, quiet: QUIET, builder: BUILDER }
  return { segment, minute, fills: FILLS_A_MINUTE, ...people, isQuietThere: QUIET_AT.includes(segment) }
}

async function readOften(ask: (path: string) => Promise<unknown>, path: string) {
  const samples = new Float64Array(READS)
  let read: FilesRead | null = null
  for (let at = 0; at < READS; at++) {
    const startMs = performance.now()
    read = (await ask(path)) as FilesRead
    samples[at] = performance.now() - startMs
  }
  return { read: read!, spread: spreadOf(samples, READS) }
}

function lineOf(name: string, { read, spread }: { read: FilesRead; spread: Spread }, bare: Spread): Line {
  const { rows, questions, rowsRead, gets, bytes } = read
  const of = (found: number, one: string) => `${whole(found)} ${one}${found === 1 ? '' : 's'}`
  return {
    what:
      `the newest fills of a ${name} user, p50 and p99 (${of(rows, 'row')}; ${of(questions, 'question')} to D1 with ` +
      `${of(rowsRead, 'row')} read, ${of(gets, 'read')} of R2 with ${whole(bytes / 1024)} KiB)`,
    bare: `${ms(bare.p50)}, ${ms(bare.p99)}`,
    weir: `${ms(spread.p50)}, ${ms(spread.p99)}`,
    ratio: times(spread.p50 / bare.p50),
    goal: '',
    met: null,
  }
}
