// Tables as whoever has a reader of Parquet sees them.

import { gunzipSync } from 'node:zlib'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, it } from 'vitest'
import {
  CANDLE_COLUMNS,
  FILL_COLUMNS,
  FUNDING_COLUMNS,
  LEDGER_COLUMNS,
  ORACLE_COLUMNS,
  WRITER_COLUMNS,
} from '../../../src/archive/files/columns.ts'
import { type BlockEvents, linesOf } from '../../../src/archive/files/rows.ts'
import { ParquetTables } from '../../../src/archive/files/tables.client.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { sortedLines } from '../../kit/at-once.ts'
import { tradedBlock } from '../filed-candles.ts'
import { fillOf, USERS } from './made.ts'

const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gunzipSync(bytes)) }
const [USER, OTHER] = USERS as [string, string]

async function tablesOf(blocks: readonly BlockEvents[]) {
  const tables = new ParquetTables([])
  for (const [key, line] of sortedLines(blocks)) tables.add(key, [line])
  return Object.fromEntries(
    (await tables.finish()).map(({ name, rows, bytes }) => [name, { rows, file: bytes.slice().buffer }]),
  )
}

it('have each fill by user and in chain order, with unchanged prices and all fields', async () => {
  const [, plain] = fillOf(OTHER, 'BTC', 5)
  const rich = {
    ...plain,
    tid: 6,
    px: '0.10',
    builder: OTHER,
    builderFee: '0.01',
    cloid: null,
    twapId: 9,
    liquidation: { markPx: '1' },
  }
  const old = { coin: 'ETH', px: '2', sz: '1', side: 'A', time: 4, oid: 3, crossed: true } as unknown as UserFill[1]
  const fills: UserFill[] = [
    [OTHER, rich],
    [USER, plain],
    [USER, old],
  ]
  const tables = await tablesOf([{ height: 9, time: 90, fills, ledger: [] }])
  const read = (name: string) => parquetReadObjects({ file: tables[name]!.file, compressors })
  const byTime = await read('fills-by-time')
  expect(byTime.map(({ user, px }) => [user, px])).toEqual([
    [OTHER, '0.10'],
    [USER, '1.0'],
    [USER, '2'],
  ])
  expect((await read('fills-by-user')).map(({ user, px }) => [user, px])).toEqual([
    [USER, '1.0'],
    [USER, '2'],
    [OTHER, '0.10'],
  ])
  expect(byTime[0]).toMatchObject({
    height: 9n,
    block_time: new Date(90),
    time: new Date(5),
    oid: 5n,
    tid: 6n,
    crossed: true,
    start_position: '0.0',
    builder: OTHER,
    builder_fee: '0.01',
    twap_id: 9n,
    other: { liquidation: { markPx: '1' } },
  })
  expect([byTime[0]!.cloid, byTime[1]!.other, byTime[2]!.tid, byTime[2]!.other]).toEqual(
    [null, null, null, null].map(() => expect.toSatisfy((cell) => cell == null)),
  )
  expect(Object.keys(byTime[0]!)).toEqual(FILL_COLUMNS.map(({ name }) => name))
  expect(tables).not.toHaveProperty('ledger-by-user')
})

it('have each ledger event once for each of its users', async () => {
  const delta = { type: 'send', amount: '1.50', destination: OTHER }
  const ledger = [{ users: [OTHER, USER], time: 8, hash: '0x1', delta }]
  const { 'ledger-by-user': table } = await tablesOf([{ height: 9, time: 90, fills: [], ledger }])
  const rows = await parquetReadObjects({ file: table!.file, compressors })
  const row = {
    height: 9n,
    block_time: new Date(90),
    time: new Date(8),
    type: 'send',
    hash: '0x1',
    users: [OTHER, USER],
    delta,
  }
  expect(rows).toEqual([
    { ...row, user: USER },
    { ...row, user: OTHER },
  ])
  expect(Object.keys(rows[0]!)).toEqual(LEDGER_COLUMNS.map(({ name }) => name))
})

it('have each market of an oracle update and each writer action, in chain order', async () => {
  const state = { px: '0.10', last_update_time: '2026-01-01T00:00:00', daily_px: '0.1' }
  const block = (height: number, coin: string) => ({
    height,
    time: 10 * height,
    fills: [],
    ledger: [],
    oracle: [
      {
        update_class: 'Deployer',
        mark_px_inputs: [['xyz:B', '0.10']],
        oracle_pxs: { coin_to_mark_px: [['xyz:B', state]] },
      },
      { external_perp_px_inputs: [[coin, '3']] },
    ],
    writer: [
      {
        user: USER,
        nonce: height,
        evm_tx_hash: '0xe',
        action: { type: 'x', destination: OTHER, wei: '9007199254740993' },
      },
      { later: [1] },
    ],
  })
  const tables = await tablesOf([block(8, 'xyz:A'), block(9, 'flx:A'), { ...block(10, ''), oracle: [], writer: [] }])
  const read = (name: string) => parquetReadObjects({ file: tables[name]!.file, compressors })
  const oracle = await read('oracle-updates-by-time')
  expect(oracle.map(({ height, coin, dex }) => [height, coin, dex])).toEqual([
    [8n, 'xyz:B', 'xyz'],
    [8n, 'xyz:A', 'xyz'],
    [9n, 'xyz:B', 'xyz'],
    [9n, 'flx:A', 'flx'],
  ])
  expect(oracle[0]).toMatchObject({
    block_time: new Date(80),
    update_class: 'Deployer',
    mark_px: '0.10',
    mark_px_inputs: ['0.10'],
    states: { mark_px: state },
  })
  expect(oracle[1]).toMatchObject({ external_perp_px_inputs: ['3'] })
  expect(Object.keys(oracle[0]!)).toEqual(ORACLE_COLUMNS.map(({ name }) => name))
  const writer = await read('writer-actions-by-time')
  expect(writer).toHaveLength(4)
  expect(writer[2]).toMatchObject({
    height: 9n,
    user: USER,
    destination: OTHER,
    type: 'x',
    evm_tx_hash: '0xe',
    nonce: 9n,
    action: { wei: '9007199254740993' },
  })
  expect(writer[3]!.other).toEqual({ later: [1] })
  expect(Object.keys(writer[0]!)).toEqual(WRITER_COLUMNS.map(({ name }) => name))
})

it('have each funding payment', async () => {
  const payments = [`${OTHER} 7 BTC -1.0 2.0 0.1 ETH 1 2 3`, `${USER} 8 BTC 1.0 -2.0 0.1`]
  const { 'funding-by-user': table } = await tablesOf([{ height: 9, time: 90, fills: [], ledger: [], payments }])
  const rows = await parquetReadObjects({ file: table!.file, compressors })
  const row = { height: 9n, block_time: new Date(90) }
  const told = { ...row, coin: 'BTC', funding_rate: '0.1' }
  expect(rows).toEqual([
    { ...told, time: new Date(8), user: USER, usdc: '1.0', szi: '-2.0' },
    { ...told, time: new Date(7), user: OTHER, usdc: '-1.0', szi: '2.0' },
    { ...row, time: new Date(7), user: OTHER, coin: 'ETH', usdc: '1', szi: '2', funding_rate: '3' },
  ])
  expect(Object.keys(rows[0]!)).toEqual(FUNDING_COLUMNS.map(({ name }) => name))
})

it('have one one-minute candle per coin per minute, however files are cut, and whether it is complete', async () => {
  const at = (height: number, seconds: number, px: number, coin = 'BTC') =>
    tradedBlock(height, 1_000 * seconds, [{ px, sz: 150, coin }])
  const files = [[at(1, 60, 5), at(2, 61, 9)], [at(3, 119, 4), at(4, 120, 6)], [at(5, 121, 7, 'ETH')]]
  const lines = files.flatMap((blocks) => [...sortedLines(blocks)]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  // Files have no block behind the second minute.
  const holes = [
    { fromMs: Number.NEGATIVE_INFINITY, toMs: 59_999 },
    { fromMs: 179_999, toMs: Number.POSITIVE_INFINITY },
  ]
  const tables = new ParquetTables(holes)
  for (const [key, line] of lines) tables.add(key, [line])
  const table = (await tables.finish()).find(({ name }) => name === 'candles-by-coin')!
  const rows = await parquetReadObjects({ file: table.bytes.slice().buffer, compressors })
  const flat = (height: bigint, coin: string, px: string) => {
    const prices = { open: px, close: px, high: px, low: px }
    return { height, coin, time: new Date(120_000), ...prices, volume: '1.5', trades: 1n, complete: false }
  }
  expect(rows).toEqual([
    {
      height: 1n,
      coin: 'BTC',
      time: new Date(60_000),
      open: '5.0',
      close: '4.0',
      high: '9.0',
      low: '4.0',
      volume: '4.5',
      trades: 3n,
      complete: true,
    },
    flat(4n, 'BTC', '6.0'),
    flat(5n, 'ETH', '7.0'),
  ])
  expect(Object.keys(rows[0]!)).toEqual(CANDLE_COLUMNS.map(({ name }) => name))
})

it('have groups of 2,048 rows whose range of users a reader can see', async () => {
  const fills = Array.from({ length: 5_000 }, (_, at) => fillOf(USERS[at % 4]!, 'BTC', at))
  const lines = new Map([...linesOf({ height: 1, time: 1, fills, ledger: [] })].sort(([a], [b]) => (a < b ? -1 : 1)))
  const tables = new ParquetTables([])
  for (const [key, line] of lines) tables.add(key, [line])
  const table = (await tables.finish()).find(({ name }) => name === 'fills-by-user')!
  const { row_groups: groups } = parquetMetadata(table.bytes.slice().buffer)
  expect(groups.map(({ num_rows }) => num_rows)).toEqual([2_048n, 2_048n, 904n])
  const users = groups.map(({ columns }) => columns.find(({ meta_data: meta }) => meta?.path_in_schema[0] === 'user')!)
  expect(users.map(({ meta_data: meta }) => String(meta!.statistics?.min_value).slice(0, 4))).toEqual([
    '0x11',
    '0x22',
    '0x44',
  ])
})
