// The bytes that a month of the exchange's fills keeps, from samples of each kind of key at the exchange's density:
// pages, and Parquet files other than those of fills, which are kept for 90 days only.

import { packPage } from '../../src/archive/files/page-text.client.ts'
import { PageWriter } from '../../src/archive/files/page-writer.ts'
import { digestLines, positionKey, positionRows } from '../../src/archive/files/position-lines.ts'
import { ALL_FILLS, type FundingRow, lineText } from '../../src/archive/files/rows.ts'
import { ParquetTables } from '../../src/archive/files/tables.client.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { inventedFill, randomOf } from './invented-fills.ts'

export const FILLS_A_DAY = 7e6
/** Under which a fill is found: its user, and of a tenth a builder. */
export const ROWS_A_FILL = 1.1
/** As many users as keys of a day, and coins. */
const USERS = 50_000
const COINS = 204
/** Rows per day of each kind of page. A fill has a change of a position and, for fewer wallets, a digest. */
const ROWS_A_DAY = {
  u: ROWS_A_FILL * FILLS_A_DAY,
  p: FILLS_A_DAY,
  f: 24 * 60_000,
  k: 24 * 60 * COINS,
} as const
const TABLES = { 'funding-by-user': ROWS_A_DAY.f, 'candles-by-coin': ROWS_A_DAY.k } as const
const START_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Average times between two fills of a user who has 4,600 a month, and between two trades of a busy coin. */
const USER_STEP_MS = 563_000
const COIN_STEP_MS = 400
const BLOCK_MS = 69
const TRADE_MS = 25
/** Orders get consecutive numbers, and so many a millisecond. */
const ORDERS_A_MS = 10
const SAMPLE = {
  users: 10,
  fills: 4_600,
  trades: 60_000,
  hours: 720,
  coins: 8,
  minutes: 1_440,
  tableFills: 60_000,
} as const

type Lines = readonly (readonly [key: string, lines: readonly string[]])[]

/** Bytes per fill, of all pages and tables that are kept. */
export async function keptBytesAFill(): Promise<number> {
  const writer = new PageWriter(packPage)
  const tables = new ParquetTables([])
  const all: Lines = [...positionLines(), ...fundingLines(), candleLines(), ...fillLines()]
  for (const [key, lines] of all.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const line of lines) await writer.add(key, line)
    if (!key.startsWith('u:')) tables.add(key, lines)
  }
  await writer.flush()
  const rowsOf: Record<string, number> = {}
  const bytesOf: Record<string, number> = {}
  for (const { key, rows, bytes } of writer.entries) {
    const kind = key.slice(0, key.indexOf(':'))
    rowsOf[kind] = (rowsOf[kind] ?? 0) + rows
    bytesOf[kind] = (bytesOf[kind] ?? 0) + bytes
  }
  const pages = Object.entries(ROWS_A_DAY).map(([kind, rows]) => {
    // Digests come with the changes that they summarize.
    const bytes = bytesOf[kind]! + (kind === 'p' ? bytesOf.d! : 0)
    return (rows * bytes) / rowsOf[kind]!
  })
  const others = (await tables.finish()).map(({ name, rows, bytes }) => {
    return (TABLES[name as keyof typeof TABLES] * bytes.length) / rows
  })
  return [...pages, ...others].reduce((sum, bytes) => sum + bytes) / FILLS_A_DAY
}

/** Bytes per fill of both Parquet files of fills. */
export async function fillTableBytesAFill(): Promise<number> {
  const tables = new ParquetTables([])
  const lines = Array.from({ length: SAMPLE.tableFills }, (_, number) => {
    const time = START_MS + Math.floor(number / 2) * TRADE_MS
    const user = walletOf(Math.floor(randomOf(number, 1) ** 3 * USERS))
    const row = fillOf(user, number, time, number - (number % 2))
    return [`u:${user}`, lineText({ height: heightAt(time), time, rows: 1 }, JSON.stringify([row]))] as const
  })
  for (const [, line] of lines) tables.add(ALL_FILLS, [line])
  for (const [key, line] of lines.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) tables.add(key, [line])
  return (await tables.finish()).reduce((sum, { bytes }) => sum + bytes.length, 0) / SAMPLE.tableFills
}

// The invented numbers and wallets of other benchmarks follow each other, and would take no bytes here.

const wordOf = (number: number, salt: number) => Math.floor(randomOf(number, salt) * 2 ** 32)

function walletOf(number: number): string {
  return `0x${[51, 52, 53, 54, 55].map((salt) => wordOf(number, salt).toString(16).padStart(8, '0')).join('')}`
}

/** With a random trade id of 49 bits, and the number of an order of about this time. */
function fillOf(user: string, number: number, time: number, trade = number): UserFill {
  const [, fill] = inventedFill(user, number, time, undefined, trade)
  const tid = (wordOf(trade, 61) % 2 ** 17) * 2 ** 32 + wordOf(trade, 62)
  const oid = 1e11 + (time - START_MS) * ORDERS_A_MS + (wordOf(number, 63) % 10_000)
  return [user, { ...fill, tid, oid }]
}

const heightAt = (time: number) => Math.floor((time - START_MS) / BLOCK_MS)

function fillLines(): Lines {
  return Array.from({ length: SAMPLE.users }, (_, user) => {
    const lines = Array.from({ length: SAMPLE.fills }, (_, at) => {
      const number = at * USERS + user
      const time = START_MS + at * USER_STEP_MS + Math.floor(randomOf(number, 2) * (USER_STEP_MS - BLOCK_MS))
      const row = fillOf(walletOf(user), number, time)
      return lineText({ height: heightAt(time), time, rows: 1 }, JSON.stringify([row]))
    })
    return [`u:${walletOf(user)}`, lines] as const
  })
}

/** Of one coin, two fills a block, with a seventh of them of one wallet. */
function positionLines(): Lines {
  const positions = new Map<string, number>()
  const UNIT = 1e5
  const positionFill = (number: number, time: number): UserFill => {
    const user = walletOf(number % 7 === 0 ? USERS : Math.floor(randomOf(number, 1) ** 3 * USERS))
    const [, fill] = fillOf(user, number, time, number - (number % 2))
    const start = positions.get(user) ?? 0
    const size = Math.round(Number(fill.sz) * UNIT)
    positions.set(user, fill.side === 'B' ? start + size : start - size)
    return [user, { ...fill, coin: 'BTC', startPosition: (start / UNIT).toFixed(5) }]
  }
  const lines = Array.from({ length: SAMPLE.trades }, (_, at) => {
    const time = START_MS + at * COIN_STEP_MS + Math.floor(randomOf(at, 3) * (COIN_STEP_MS - BLOCK_MS))
    const height = heightAt(time)
    const fills = [positionFill(2 * at, time), positionFill(2 * at + 1, time)]
    const rows = positionRows(fills, { height, time }).get('BTC') ?? []
    return lineText({ height, time, rows: rows.length }, JSON.stringify(rows))
  })
  return [
    ['d:BTC', digestLines(lines)],
    [positionKey('BTC'), lines],
  ]
}

function fundingLines(): Lines {
  return Array.from({ length: SAMPLE.users }, (_, user) => {
    const lines = Array.from({ length: SAMPLE.hours }, (_, hour) => {
      const time = START_MS + hour * HOUR_MS
      const rows = Array.from({ length: SAMPLE.coins }, (_, coin): FundingRow => {
        const random = (salt: number) => randomOf(hour * SAMPLE.coins + coin, salt + user)
        const held = (randomOf(Math.floor(hour / 8), coin + user) * 100).toFixed(5)
        return [time, `COIN${coin}`, (random(100) / 10).toFixed(6), held, (random(200) / 1e4).toFixed(10)]
      })
      return lineText({ height: hour * 52_000, time, rows: rows.length }, JSON.stringify(rows))
    })
    return [`f:${walletOf(user)}`, lines] as const
  })
}

function candleLines(): Lines[number] {
  const lines = Array.from({ length: SAMPLE.minutes }, (_, minute) => {
    const time = START_MS + minute * MINUTE_MS
    const px = (salt: number) => (50_000 + randomOf(minute, salt) * 100).toFixed(1)
    const row = [time, px(1), px(2), px(3), px(4), (randomOf(minute, 5) * 300).toFixed(5), minute % 97]
    return lineText({ height: minute * 870, time, rows: 1 }, JSON.stringify([row]))
  })
  return ['k:BTC', lines]
}
