// Rows of each topic: which there are, how they are told apart, and what is said of what is not known.

import { describe, expect, it } from 'vitest'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import { selectTopic } from '../../../src/pipelines/topics/catalogue.ts'
import { HEAD_COLUMNS, NOTE_COLUMNS, type Row } from '../../../src/pipelines/topics/topic.ts'
import type { HubBlock, RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import { EXAMPLE_FILL, EXAMPLE_LIQUIDATION } from '../../../src/relay/channels/fills.ts'

type Chosen = Pick<Pipeline, 'topic' | 'filter'>
const open = (topic: Chosen['topic'], filter: Chosen['filter'] = null, state: string | null = null) => {
  const chosen = selectTopic({ topic, filter })
  if (!chosen.ok) throw new Error(chosen.error.message)
  const { definition, interest } = chosen.value
  const fold = definition.open(interest, state)
  const names = new Set([...HEAD_COLUMNS, ...NOTE_COLUMNS, ...definition.columns].map(({ name }) => name))
  const rows = (line: object, orders?: object): readonly Row[] => {
    const made = fold.rows(fold.parse(JSON.stringify(line), orders && JSON.stringify(orders)))
    for (const row of made) for (const name in row) expect(names).toContain(name)
    return made
  }
  return { rows, fold }
}
const events = (height: number, over: Partial<RelayEvents> = {}): RelayEvents => ({
  v: 1,
  t: 'events',
  epoch: 'e',
  height,
  time: height * 1_000,
  fills: [],
  ledger: [],
  funding: [],
  ...over,
})
const [ALICE, FILL] = EXAMPLE_FILL
const BOB = `0x${'b2'.repeat(20)}`
const keys = (rows: readonly Row[]) => rows.map(({ _key }) => _key)

describe('fills', () => {
  const block = events(7, {
    fills: [
      EXAMPLE_FILL,
      [BOB, { ...FILL, side: 'A', coin: 'ETH' }],
      [BOB, { ...FILL, side: 'A', coin: 'ETH' }],
      EXAMPLE_LIQUIDATION,
    ],
  })

  // PIPE-4
  it('are rows with the columns of the table and unique keys', () => {
    const rows = open('fills').rows(block)
    expect(rows[0]).toMatchObject({
      _kind: 'row',
      _key: `7:${FILL.tid}:${ALICE}:B`,
      _height: 7,
      _time: 7_000,
      user: ALICE,
      coin: 'BTC',
      px: '81307.0',
      time: FILL.time,
      start_position: '0.0',
      fee_token: 'USDC',
      builder_fee: '0.08',
      twap_id: null,
      other: null,
    })
    expect(new Set(keys(rows)).size).toBe(4)
    expect(keys(rows)[2]).toBe(`${keys(rows)[1]}:2`)
  })

  it.each([
    [{ type: 'userFills', user: BOB.toUpperCase().replace('0X', '0x') }, 2],
    [{ type: 'userFills', user: BOB, aggregateByTime: true }, 1],
    [{ type: 'allFills', coin: 'BTC' }, 2],
    [{ type: 'builderFills', builder: FILL.builder as string }, 3],
    [{ type: 'liquidationFills' }, 1],
  ])('of %j alone', (filter, count) => {
    expect(open('fills', filter).rows(block)).toHaveLength(count)
  })
})

describe('ledger', () => {
  const event = { users: [ALICE, BOB], time: 5, hash: '0xh', delta: { type: 'send', amount: '1' } }

  it('has a row for each affected wallet, or for each wallet of the filter', () => {
    const block = events(7, { ledger: [event, event] })
    expect(keys(open('ledger').rows(block))).toEqual(
      [ALICE, BOB, ALICE, BOB].map((user, at) => `7:0xh:${user}${at > 1 ? ':2' : ''}`),
    )
    const [row, ...rest] = open('ledger', { type: 'userNonFundingLedgerUpdates', user: BOB }).rows(block)
    expect(row).toMatchObject({
      user: BOB,
      type: 'send',
      hash: '0xh',
      time: 5,
      delta: { amount: '1' },
      users: [ALICE, BOB],
    })
    expect(rest).toHaveLength(1)
  })

  it('yields a gap for blocks that contain only fills', () => {
    expect(open('ledger').rows(events(7, { only: 'fills' }))).toMatchObject([{ _kind: 'gap', _from: 7, _height: 7 }])
  })
})

describe('oracle_updates and writer_actions', () => {
  const state = { px: '4020.1', last_update_time: '2026-09-21T14:13:20.0', daily_px: '4011.0' }
  const oracle = [
    {
      update_class: 'Deployer',
      mark_px_inputs: [['xyz:GOLD', '4020.0']],
      oracle_pxs: { coin_to_mark_px: [['xyz:GOLD', state]] },
    },
    { update_class: 'Fallback', spot_px_inputs: [['xyz:GOLD', '1.0']] },
    { spot_px_inputs: [['flx:OIL', '2.0']] },
  ]
  const send = { type: 'SystemSpotSendAction', destination: BOB, token: 0, wei: 5 }
  const writer = [
    { user: ALICE, nonce: 4, evm_tx_hash: '0xe', action: send, later: 1 },
    { user: BOB, nonce: '9007199254740993', action: null },
  ]

  // PIPE-4
  it('have a row for each market, or each action, with fields without a column in JSON', () => {
    const rows = open('oracle_updates').rows(events(7, { oracle }))
    expect(keys(rows)).toEqual(['7:xyz:GOLD', '7:xyz:GOLD:2', '7:flx:OIL'])
    expect(rows[0]).toEqual({
      _kind: 'row',
      _key: '7:xyz:GOLD',
      _height: 7,
      _time: 7_000,
      coin: 'xyz:GOLD',
      dex: 'xyz',
      update_class: 'Deployer',
      mark_px: '4020.1',
      oracle_px: null,
      external_perp_px: null,
      mark_px_inputs: ['4020.0'],
      spot_px_inputs: null,
      external_perp_px_inputs: null,
      states: { mark_px: state },
    })
    expect(open('writer_actions').rows(events(7, { writer }))).toMatchObject([
      {
        _key: '7:0xe:4',
        user: ALICE,
        destination: BOB,
        type: send.type,
        evm_tx_hash: '0xe',
        nonce: 4,
        action: send,
        other: { later: 1 },
      },
      {
        _key: '7:null:null',
        user: BOB,
        destination: null,
        type: null,
        nonce: null,
        action: null,
        other: { nonce: '9007199254740993' },
      },
    ])
  })

  it.each([
    ['oracle_updates', { type: 'oracleUpdates', coin: 'flx:OIL' }, 1],
    ['oracle_updates', { type: 'oracleUpdates', dex: 'xyz' }, 2],
    ['oracle_updates', { type: 'oracleUpdates' }, 3],
    ['writer_actions', { type: 'writerActions', users: [BOB, ALICE] }, 2],
    ['writer_actions', { type: 'writerActions', user: ALICE }, 1],
    ['writer_actions', { type: 'writerActions' }, 2],
  ] as const)('%s of %j alone', (topic, filter, count) => {
    expect(open(topic, filter).rows(events(7, { oracle, writer }))).toHaveLength(count)
  })

  // PIPE-6
  it.each(['oracle_updates', 'writer_actions'] as const)('%s yield a gap for blocks without the file', (topic) => {
    const gap = { _kind: 'gap', _from: 7, _height: 7 }
    expect(open(topic).rows(events(7))).toMatchObject([
      { ...gap, _reason: expect.stringMatching(/the node's file \w+$/) },
    ])
    expect(open(topic).rows(events(7, { only: 'fills', oracle, writer }))).toMatchObject([gap])
    expect(open(topic).rows(events(7, { oracle: [], writer: [] }))).toEqual([])
  })
})

describe('book_diffs', () => {
  const block = (height: number, over: Partial<HubBlock> = {}): HubBlock => ({
    v: 1,
    t: 'block',
    epoch: 'e',
    height,
    time: height * 1_000,
    px: {},
    books: [
      { coin: 'BTC', levels: [[{ px: '1', sz: '2', n: 3 }], []], new: true },
      { coin: '@1', levels: [[], [{ px: '4', sz: '0', n: 0 }]] },
    ],
    ...over,
  })

  it('are one row per coin, with the height as sequence number', () => {
    const rows = open('book_diffs').rows(block(9))
    expect(rows).toEqual([
      {
        _kind: 'row',
        _key: '9:BTC',
        _height: 9,
        _time: 9_000,
        coin: 'BTC',
        seq: 9,
        epoch: 'e',
        is_new: true,
        bids: [{ px: '1', sz: '2', n: 3 }],
        asks: [],
      },
      expect.objectContaining({ coin: '@1', is_new: false }),
    ])
    expect(keys(open('book_diffs', { type: 'l2BookDiff2', coin: '@1' }).rows(block(9)))).toEqual(['9:@1'])
    expect(keys(open('book_diffs', { type: 'l2BookDiff', marketTypes: ['perp'] }).rows(block(9)))).toEqual(['9:BTC'])
  })

  // PIPE-6, PIPE-7
  it('report resets of books and gaps', () => {
    const rows = open('book_diffs', { type: 'l2BookDiff2', coin: 'BTC' }).rows(
      block(9, { repaired: ['BTC', '@1'], books: null, epoch: null }),
    )
    expect(rows).toMatchObject([
      { _kind: 'reset', _key: 'reset:9:BTC', coin: 'BTC' },
      { _kind: 'gap', _from: 9, _height: 9 },
    ])
  })
})

describe('candles', () => {
  const trade = (height: number, px: string, coin = 'BTC') =>
    events(height, {
      fills: [
        [ALICE, { ...FILL, coin, px, time: height * 1_000, tid: height, side: 'B' }],
        [BOB, { ...FILL, coin, px, time: height * 1_000, tid: height, side: 'A', crossed: false }],
      ],
    })

  // PIPE-16
  it('are sent once, when they close, except those that were open at the start', () => {
    const { rows } = open('candles')
    for (const [height, px] of [
      [30, '1'],
      [60, '2'],
      [90, '5'],
    ] as const)
      expect(rows(trade(height, px))).toEqual([])
    const [candle, ...rest] = rows(trade(120, '3'))
    expect(rest).toEqual([])
    expect(candle).toEqual({
      _kind: 'row',
      _key: '120:BTC:1m:60000',
      _height: 120,
      _time: 120_000,
      coin: 'BTC',
      interval: '1m',
      time: 60_000,
      end_time: 119_999,
      open: '2',
      close: '5',
      high: '5',
      low: '2',
      volume: '0.02',
      trades: 2,
    })
    expect(rows(events(150))).toEqual([])
    expect(rows(events(180))).toMatchObject([{ time: 120_000, open: '3', trades: 1 }])
  })

  it('continue from a state, and are omitted if they touch a gap', () => {
    const first = open('candles', { type: 'candle', interval: '1m', coin: 'BTC' })
    first.rows(events(0))
    for (const height of [60, 61]) expect(first.rows(trade(height, '2'))).toEqual([])
    first.rows(trade(62, '9', 'ETH'))
    const state = first.fold.state!()
    const next = open('candles', { type: 'candle', interval: '1m', coin: 'BTC' }, state)
    expect(next.rows(events(120))).toMatchObject([{ coin: 'BTC', trades: 2 }])
    const other = open('candles', { type: 'candle', interval: '5m', coin: 'BTC' }, state)
    expect(other.rows(events(300))).toEqual([])
    for (const filter of [{ type: 'candle', interval: '1m', coin: 'ETH' }, null])
      expect(open('candles', filter, state).rows(events(120))).toEqual([])
    const broken = open('candles', null, state)
    broken.fold.onGap!()
    expect([...broken.rows(trade(119, '1')), ...broken.rows(events(121))]).toEqual([])
  })
})

describe('completed_trades', () => {
  const filter = { type: 'userFills', addresses: [ALICE] }
  const fill = (height: number, side: 'A' | 'B', startPosition: string, over = {}) =>
    events(height, {
      fills: [[ALICE, { ...FILL, time: height * 1_000, side, startPosition, sz: '1.0', closedPnl: '0.5', ...over }]],
    })

  // PIPE-16
  it('are sent when a position closes, even if the state was stored in between', () => {
    const first = open('completed_trades', filter)
    expect(first.rows(fill(1, 'B', '0.0'))).toEqual([])
    expect(first.rows(events(2, { funding: [{ coin: 'BTC', perUnit: '0.25' }] }))).toEqual([])
    const next = open('completed_trades', filter, first.fold.state!())
    expect(next.rows(fill(3, 'A', '1.0'))).toMatchObject([
      {
        _key: `3:${ALICE}:BTC:0`,
        user: ALICE,
        coin: 'BTC',
        position_type: 'Long',
        funding_pnl: '-0.25',
        open_time: 1_000,
        close_time: 3_000,
        fills: 2,
      },
    ])
  })

  it('that opened before the start or touch a gap are omitted', () => {
    const { rows, fold } = open('completed_trades', filter)
    expect(rows(fill(1, 'A', '1.0'))).toEqual([])
    rows(fill(2, 'B', '0.0'))
    fold.onGap!()
    expect(rows(fill(3, 'A', '1.0'))).toEqual([])
    rows(fill(4, 'B', '0.0'))
    expect(rows(events(5, { only: 'fills' }))).toMatchObject([{ _kind: 'gap' }])
    expect(rows(fill(6, 'A', '1.0'))).toEqual([])
  })

  // PIPE-16, field test T10
  it('of a position that did not continue are omitted, and a gap tells where', () => {
    const { rows } = open('completed_trades', filter)
    const gap = (height: number) => ({ _kind: 'gap', _from: height, _height: height, _reason: expect.any(String) })
    rows(fill(1, 'B', '0.0'))
    rows(fill(1, 'B', '0.0', { coin: 'ETH' }))
    expect(rows(fill(2, 'B', '2.0'))).toMatchObject([gap(2)])
    expect(rows(fill(3, 'A', '3.0', { sz: '3.0' }))).toEqual([])
    expect(rows(fill(4, 'A', '1.0', { coin: 'ETH' }))).toMatchObject([{ _kind: 'row', coin: 'ETH', fills: 2 }])
    rows(fill(5, 'B', '0.0'))
    expect(rows(events(6, { funding: [{ coin: 'BTC', perUnit: 'x' }] }))).toMatchObject([gap(6)])
    expect(rows(fill(7, 'A', '1.0'))).toEqual([])
  })
})

describe('replica_cmds', () => {
  const signed = (type: unknown, more: object = {}) => ({ action: { type }, nonce: 1, ...more })
  const replica = [
    {
      line: { height: 6, block: { time: '2026-06-11T17:27:51.286481322', round: 3, proposer: '0xp', parent_round: 2 } },
    },
    { bundle: { hash: '0xb', broadcaster: '0xc' } },
    { action: signed('order'), index: 0, user: ALICE, response: { status: 'ok', response: { type: 'order' } } },
    { action: signed('cancel', { later: '9007199254740993' }), index: 1, user: null, response: { status: 'err' } },
    { line: { height: 7, block: { time: 5 }, other: { more: 1 } } },
    { action: 'odd', index: 0 },
    null,
  ]
  const rowsOf = (filter: Chosen['filter'], entries: unknown[] = replica) =>
    open('replica_cmds', filter).rows(events(7), entries)

  // PIPE-34
  it('have a row for each action, with the height of its own line, and keep fields without a column', () => {
    const rows = rowsOf(null)
    expect(keys(rows)).toEqual(['7:6:0', '7:6:1', '7:7:0'])
    expect(rows[0]).toEqual({
      _kind: 'row',
      _key: '7:6:0',
      _height: 7,
      _time: 7_000,
      height: 6,
      time: Date.UTC(2026, 5, 11, 17, 27, 51, 286),
      round: 3,
      proposer: '0xp',
      bundle_hash: '0xb',
      action_index: 0,
      type: 'order',
      user: ALICE,
      status: 'ok',
      signed_action: signed('order'),
      response: { status: 'ok', response: { type: 'order' } },
      other: { block: { parent_round: 2 }, bundle: { broadcaster: '0xc' } },
    })
    expect(rows[1]).toMatchObject({ user: null, status: 'err', signed_action: { later: '9007199254740993' } })
    const odd = { height: 7, time: null, bundle_hash: null, type: null, user: null, response: null }
    expect(rows[2]).toMatchObject({ ...odd, signed_action: 'odd', other: { block: { time: 5 }, line: { more: 1 } } })
  })

  it('of a filter have the types and users that it names; a user that is unknown yields a gap', () => {
    const told = (filter: object, entries?: unknown[]) =>
      rowsOf({ type: 'replicaCmds', ...filter }, entries).map((row) => (row._kind === 'gap' ? row._reason : row._key))
    expect(told({ actionTypes: ['cancel', 'modify'] })).toEqual(['7:6:1'])
    expect(told({ users: [ALICE.toUpperCase().replace('X', 'x')] }, replica.slice(0, 4))).toEqual(['7:6:0'])
    expect(told({ users: [ALICE] })).toEqual([expect.stringContaining('have no user'), '7:6:0'])
    expect(told({ users: [ALICE], actionTypes: ['cancel'] })).toEqual([])
    for (const filter of [{ users: ['0x1'] }, { actionTypes: [] }, { coin: 'BTC' }, { actionTypes: 'order' }])
      expect(selectTopic({ topic: 'replica_cmds', filter: { type: 'replicaCmds', ...filter } })).toMatchObject({
        ok: false,
        error: { path: expect.stringMatching(/^filter\.(users\.0|actionTypes|coin)$/) },
      })
  })

  it('yield a gap for a block without data, and for every kind of lost data', () => {
    const { rows } = open('replica_cmds')
    expect(rows(events(7))).toMatchObject([
      { _kind: 'gap', _from: 7, _reason: expect.stringContaining('not requested') },
    ])
    expect(rows(events(7), [])).toEqual([])
    const lost = [{ lost: 'one' }, replica[0], { lost: 'two' }, { lost: 'one' }, replica[2]]
    expect(rows(events(7), lost)).toMatchObject([
      { _kind: 'gap', _key: 'gap:7-7', _reason: 'one; two' },
      { _kind: 'row', _key: '7:6:0' },
    ])
  })
})

it('order_updates contain only the wallets of the filter', () => {
  const order = { coin: 'BTC', side: 'B', limitPx: '1', sz: '1', oid: 5, timestamp: 9, origSz: '2' }
  const status = (user: string) => ({ time: '2026-11-24T00:00:00.123456789', user, status: 'open', order })
  const { rows } = open('order_updates', { type: 'orderUpdates', user: ALICE })
  expect(rows(events(7), [status(ALICE), status(BOB)])).toEqual([
    {
      _kind: 'row',
      _key: `7:${ALICE}:5:open`,
      _height: 7,
      _time: 7_000,
      user: ALICE,
      coin: 'BTC',
      status: 'open',
      side: 'B',
      limit_px: '1',
      sz: '1',
      orig_sz: '2',
      oid: 5,
      timestamp: 9,
      cloid: null,
      reduce_only: null,
      status_time: Date.parse('2026-11-24T00:00:00.123Z'),
    },
  ])
})

it.each([
  [{ topic: 'completed_trades', filter: null }, 'filter'],
  [{ topic: 'fills', filter: { type: 'trades', coin: 'BTC' } }, 'filter.type'],
  [{ topic: 'fills', filter: { type: 'allFills', coin: 5 } }, 'filter.coin'],
  [{ topic: 'evm_logs', filter: null }, 'topic'],
] as const)('a pipeline of %j is refused by the field %s', (chosen, path) => {
  expect(selectTopic(chosen as Chosen)).toMatchObject({ ok: false, error: { path } })
})
