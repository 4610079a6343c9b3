// Single edge cases of the protocol. simulation.test.ts combines them.

import { describe, expect, test } from 'vitest'
import { Outbox } from '../../src/feeder/outbox.ts'
import { resumePoint, startedOverMessage } from '../../src/feeder/resume-point.ts'
import { ACK_TIMEOUT_MS, FeedSession, OUTBOX_MAX_UNITS, WELCOME_TIMEOUT_MS } from '../../src/feeder/session.ts'
import { SnapshotEncoder } from '../../src/feeder/snapshot-encoder.ts'
import type { Block } from '../../src/protocol/feed/block.ts'
import { FeederFrame, type GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'

const block = (height: number): Block => ({ height, time: height, fills: [], ledger: [], funding: [], books: [] })
const welcome = (height: number | null, epoch: string | null = 'e'): GatewayFrame => {
  return { type: 'welcome', epoch, height }
}
/** A connection opens, and the session sends hello. */
const open = (session: FeedSession, head = 9, now = 0) =>
  session.onOpen({ chain: 'c', feeder: 'f', first: 1, head }, now)
/** The connection breaks, and another one opens. */
function reopen(session: FeedSession, head = 9): void {
  session.onClose()
  open(session, head, 1)
}
const ROOM = 1e9

/** A welcomed session that sent blocks `from` to `to`. */
function flowing(from: number, to: number): FeedSession {
  const session = new FeedSession()
  open(session, to)
  expect(session.onFrame(welcome(from - 1), 0)).toEqual([{ do: 'reposition', to: { durable: from - 1, seeded: true } }])
  session.startFrom(from, false, null)
  for (let height = from; height <= to; height++) session.addBlock(block(height))
  return session
}

/** Supplies a snapshot of one part. */
function snapshot(session: FeedSession, scope: 'all' | 'coins', height: number, coins: readonly string[]): void {
  const cut = new SnapshotEncoder({ scope, height, time: height }, coins, { depths: () => [0, 0], side: () => [] })
  session.openSnapshot(cut)
  expect(session.addSnapshotPart(cut.next()!, cut.isDone)).toBe(true)
}

const sent = (session: FeedSession, now = 0) =>
  session.drain(now, ROOM).map((text) => {
    const { type, height, books, scope, first, parts } = JSON.parse(text)
    return type === 'block'
      ? books === null
        ? `${height}?`
        : `${height}`
      : type === 'gone'
        ? `gone<${first}`
        : `${scope}@${height}${parts ? '/' : ''}`
  })

describe('payments', () => {
  const paid = (height: number) => ({ ...block(height), payments: [`0x${'a'.repeat(40)} 1 BTC 1 2 3`] })
  const takes: GatewayFrame = { type: 'want', orders: { add: [], drop: [] }, payments: true }
  const held = (session: FeedSession) =>
    session.drain(0, ROOM).map((text) => (JSON.parse(text) as Block).payments?.length ?? 0)

  // FEED-38
  test('are sent only to a gateway that accepts them, and are removed when a different gateway connects', () => {
    const session = flowing(6, 6)
    session.addBlock(paid(7))
    expect(held(session)).toEqual([0, 0])
    for (const isTold of [true, false]) {
      reopen(session, 8)
      if (isTold) session.onFrame(takes, 0)
      session.onFrame(welcome(7), 0)
      if (isTold) session.addBlock(paid(8))
      expect(held(session)).toEqual(isTold ? [1] : [0])
    }
  })

  // FEED-39
  test('so are oracle updates and writer actions, each for itself', () => {
    const session = flowing(6, 6)
    const rich = (height: number) => ({ ...block(height), oracle: [{ a: 1 }], writer: [] })
    const parts = () =>
      session.drain(0, ROOM).map((text) => (['oracle', 'writer'] as const).filter((name) => name in JSON.parse(text)))
    session.addBlock(rich(7))
    expect([parts(), session.extras.size]).toEqual([[[], []], 0])
    reopen(session, 8)
    session.onFrame({ ...takes, extras: ['oracle', 'next'] }, 0)
    session.onFrame(welcome(7), 0)
    session.addBlock(rich(8))
    expect([parts(), [...session.extras]]).toEqual([[['oracle']], ['oracle']])
    reopen(session, 8)
    session.onFrame(takes, 0)
    session.onFrame(welcome(7), 0)
    expect(parts()).toEqual([[]])
  })

  // FEED-40
  test('can be wanted and unwanted on a connection, and are left out while much is unsent', () => {
    const session = flowing(6, 6)
    const want = (...extras: string[]) => session.onFrame({ ...takes, extras }, 0)
    const add = (height: number, text = 'x') => session.addBlock({ ...block(height), replica: [text], oracle: [] })
    want('oracle', 'replica')
    expect([session.wantsReplica, add(7)?.replica]).toEqual([true, ['x']])
    session.onFrame(takes, 0)
    expect(session.wantsReplica, 'a frame without a list').toBe(true)
    want('oracle')
    expect([session.wantsReplica, add(8)?.replica, add(9)?.oracle]).toEqual([false, undefined, []])
    want('replica')
    const many = Array.from({ length: 10 }, (_, at) => add(10 + at, 'x'.repeat(1024 * 1024)))
    expect(many.map((block) => block?.replica?.length ?? 0)).toEqual([...Array(8).fill(1), 0, 0])
  })

  // FEED-38
  test('are left out of a block that is too long for a gateway', () => {
    const outbox = new Outbox()
    const many = Array.from({ length: 200 }, () => `0x${'a'.repeat(40)} 1${' BTC 1 2 3'.repeat(10_000)}`)
    expect(outbox.pushBlock({ ...paid(1), payments: many }).payments).toBeNull()
    expect(outbox.pushBlock(paid(2)).payments).toHaveLength(1)
  })
})

describe('a pulse', () => {
  const said = { now: 1, head: 9, time: 2, state: 'sending', ...ZERO_COUNTERS }

  // FEED-27
  test('waits for the hello and for a requested pause', () => {
    const session = new FeedSession()
    expect(session.encodePulse(said, 0)).toBe(null)
    open(session)
    expect(session.encodePulse(said, 0)).toBe(null)
    session.onFrame(welcome(9), 0)
    expect(FeederFrame.parse(JSON.parse(session.encodePulse(said, 0)!))).toEqual({ type: 'pulse', ...said })
    session.onFrame({ type: 'slow', retryMs: 500 }, 0)
    expect(session.encodePulse(said, 499)).toBe(null)
    expect(session.encodePulse(said, 500)).not.toBe(null)
    session.onFrame({ type: 'conflict', reason: 'x' }, 600)
    expect(session.encodePulse(said, 600)).not.toBe(null)
    session.onClose()
    expect(session.encodePulse(said, 700)).toBe(null)
  })
})

describe('a hello', () => {
  // FEED-4
  test('that is refused does not count as a connection, and the refusal has a reason', () => {
    const session = new FeedSession()
    open(session)
    const reason = 'this gateway carries d and the feeder says "c"'
    expect(session.onFrame({ type: 'error', field: 'chain', message: reason }, 0)).toEqual([
      { do: 'refused', reason, atGreeting: false },
    ])
    expect([session.phase, session.overdueReason(WELCOME_TIMEOUT_MS + 1)]).toEqual(['refused', null])
  })
})

describe('sending', () => {
  // FEED-10
  test('only unacknowledged items are sent again after a reconnect', () => {
    const session = flowing(5, 9)
    expect(sent(session)).toEqual(['5', '6', '7', '8', '9'])
    reopen(session)
    expect(session.onFrame(welcome(6), 1)).toEqual([])
    expect(sent(session)).toEqual(['7', '8', '9'])
    expect(session.unacked).toBe(3)
  })

  // FEED-5
  test('a gateway that lost its books gets unknown changes, then a seed', () => {
    const session = flowing(5, 7)
    reopen(session)
    session.onFrame(welcome(5, null), 1)
    expect(sent(session)).toEqual(['6?', '7?'])
    expect(session.dueBooks(7)).toBe('all')
    snapshot(session, 'all', 7, [])
    session.addBlock(block(8))
    expect(sent(session)).toEqual(['all@7', '8'])
  })

  test('a gateway ahead of us is followed without sending', () => {
    const session = flowing(5, 6)
    session.onFrame({ type: 'ack', height: 9 }, 0)
    for (const height of [7, 8, 9, 10]) session.addBlock(block(height))
    expect(sent(session)).toEqual(['10'])
  })

  test('a gateway that lost acknowledged blocks gets them from the files', () => {
    const session = flowing(5, 9)
    session.onFrame({ type: 'ack', height: 8 }, 0)
    reopen(session)
    expect(session.onFrame(welcome(3), 1)).toEqual([{ do: 'reposition', to: { durable: 3, seeded: true } }])
    expect(sent(session)).toEqual([])
  })

  test('resend repeats earlier blocks, from the files if needed', () => {
    const session = flowing(5, 9)
    sent(session)
    session.onFrame({ type: 'resend', from: 7 }, 0)
    expect(sent(session)).toEqual(['7', '8', '9'])
    session.onFrame({ type: 'ack', height: 8 }, 0)
    expect(session.onFrame({ type: 'resend', from: 6 }, 0)).toMatchObject([{ do: 'reposition' }])
  })

  // FEED-25
  test('a repeatedly rejected block becomes a gap, with a new seed', () => {
    const session = flowing(5, 6)
    for (let i = 0; i < 4; i++) {
      sent(session, i * 1000)
      session.onFrame({ type: 'error', field: 'fills.0', message: 'bad' }, i * 1000)
      session.onFrame({ type: 'resend', from: 5 }, i * 1000)
    }
    expect(sent(session, 9000)).toEqual(['gone<6', '6?'])
    expect(session.dueBooks(6)).toBe('all')
  })

  test('a gap is sent, and the next block has unknown changes', () => {
    const session = flowing(5, 5)
    session.addGap(6, 8)
    expect(session.dueBooks(8)).toBeNull()
    session.addBlock(block(9))
    expect(sent(session)).toEqual(['5', 'gone<9', '9?'])
    expect(session.dueBooks(9)).toBe('all')
  })

  // FEED-24
  test('slow pauses sending, and conflict ends it', () => {
    const session = flowing(5, 5)
    session.onFrame({ type: 'slow', retryMs: 500 }, 100)
    expect(sent(session, 599)).toEqual([])
    expect(sent(session, 600)).toEqual(['5'])
    expect(session.onFrame({ type: 'conflict', reason: 'no' }, 600)).toEqual([
      { do: 'refused', reason: 'no', atGreeting: false },
    ])
    session.addBlock(block(6))
    expect(sent(session, 700)).toEqual([])
  })

  test('production stops at the bound', () => {
    const session = flowing(5, 5)
    expect(session.isFull).toBe(false)
    const events = Array.from({ length: 70 }, () => 'x'.repeat(1024 * 1024))
    session.addBlock({ ...block(6), events })
    expect(session.isFull).toBe(OUTBOX_MAX_UNITS < 70 * 1024 * 1024)
  })
})

describe('a snapshot in parts', () => {
  // FEED-6, FEED-17
  test('is sent part by part as there is room, and blocks wait for it', () => {
    const session = flowing(5, 5)
    session.onFrame({ type: 'reseed', coins: null, reason: 'why' }, 0)
    session.openSnapshot({ head: { scope: 'all', height: 5, time: 5 }, coins: [] })
    expect(session.addSnapshotPart('"one"', false)).toBe(true)
    expect([session.drain(0, ROOM).length, session.drain(0, ROOM)]).toEqual([2, []])
    expect(session.addSnapshotPart('"two"', false)).toBe(true)
    expect(session.addSnapshotPart('"three"', true)).toBe(true)
    session.addBlock(block(6))
    expect(session.drain(0, 1)).toEqual(['"two"'])
    expect(session.drain(0, 1)).toEqual(['"three"'])
    expect(sent(session)).toEqual(['6'])
    session.onFrame({ type: 'resend', from: 5 }, 0)
    expect(session.drain(0, ROOM).slice(1, 4)).toEqual(['"one"', '"two"', '"three"'])
  })

  test('that is aborted is due again from the start', () => {
    const session = flowing(5, 5)
    session.onFrame({ type: 'reseed', coins: null, reason: 'why' }, 0)
    session.openSnapshot({ head: { scope: 'all', height: 5, time: 5 }, coins: [] })
    expect(session.addSnapshotPart('"one"', false)).toBe(true)
    expect(session.drain(0, ROOM)).toHaveLength(2)
    session.dropSnapshot()
    expect([session.dueBooks(5), session.addSnapshotPart('"two"', true)]).toEqual(['all', false])
    session.addBlock(block(6))
    expect(sent(session)).toEqual(['6?'])
  })

  // FEED-17, FEED-25
  test("rejected for its timing does not count as a block's rejection, and is sent again on request", () => {
    const session = flowing(5, 5)
    session.addGap(6, 7)
    session.addBlock(block(8))
    snapshot(session, 'all', 8, [])
    expect(sent(session)).toEqual(['5', 'gone<8', '8?', 'all@8'])
    for (let height = 8; height < 13; height++) {
      session.onFrame({ type: 'error', field: 'height', message: 'those of another feeder are taken' }, height * 1000)
      session.onFrame({ type: 'resend', from: 8 }, height * 1000)
      expect(sent(session, height * 1000 + 500)[0]).toBe('8?')
      expect(session.dueBooks(height)).toBeNull()
      session.addBlock(block(height + 1))
      session.onFrame({ type: 'reseed', coins: null, reason: 'why' }, height * 1000)
      expect(session.dueBooks(height + 1)).toBe('all')
      snapshot(session, 'all', height + 1, [])
      expect(sent(session, height * 1000 + 500)).toEqual([`${height + 1}`, `all@${height + 1}`])
    }
  })

  test('does not stop production, whatever its size: only blocks count', () => {
    const session = flowing(5, 5)
    session.openSnapshot({ head: { scope: 'all', height: 5, time: 5 }, coins: [] })
    for (let i = 0; i < 70; i++) session.addSnapshotPart('x'.repeat(1024 * 1024), i === 69)
    expect(session.isFull).toBe(false)
  })
})

describe('repairs', () => {
  // FEED-19
  test('are sent after the last block, and again if the gateway was at a different height', () => {
    const session = flowing(5, 6)
    session.onFrame({ type: 'reseed', coins: ['BTC', 'ETH'], reason: 'why' }, 0)
    expect(session.dueBooks(5)).toBeNull()
    expect(session.dueBooks(6)).toEqual(['BTC', 'ETH'])
    snapshot(session, 'coins', 6, ['BTC'])
    expect(session.dueBooks(6)).toBeNull()
    expect(sent(session)).toEqual(['5', '6', 'coins@6'])
    session.onFrame({ type: 'error', field: 'height', message: 'too late' }, 0)
    expect(session.dueBooks(6)).toEqual(['BTC'])
  })

  test('survive a reconnect until a later block is acknowledged', () => {
    const session = flowing(5, 5)
    session.onRepaired(['BTC'])
    snapshot(session, 'coins', 5, ['BTC'])
    sent(session)
    session.onFrame({ type: 'ack', height: 5 }, 0)
    reopen(session)
    session.onFrame(welcome(5), 1)
    expect(session.dueBooks(5)).toEqual(['BTC'])
  })
})

test('a snapshot leaves the outbox with the acknowledgement of a later height', () => {
  const outbox = new Outbox()
  outbox.pushBlock(block(5))
  outbox.openSnapshot('coins', 5, ['BTC'])
  outbox.pushPart('part', true)
  outbox.pushBlock(block(6))
  outbox.ack(5)
  expect(outbox.length).toBe(2)
  outbox.ack(6)
  expect(outbox.length).toBe(0)
  expect(outbox.units).toBe(0)
})

describe('dead connections', () => {
  // FEED-23
  test('no welcome', () => {
    const session = new FeedSession()
    open(session, 1)
    expect(session.overdueReason(WELCOME_TIMEOUT_MS)).toBeNull()
    expect(session.overdueReason(WELCOME_TIMEOUT_MS + 1)).toMatch(/welcome/)
  })

  // FEED-23
  test('no acknowledgement of pending blocks; without pending blocks, silence is fine', () => {
    const session = flowing(5, 5)
    expect(session.overdueReason(1e9)).toBeNull()
    sent(session, 20_000)
    expect(session.overdueReason(20_000 + ACK_TIMEOUT_MS)).toBeNull()
    expect(session.overdueReason(20_001 + ACK_TIMEOUT_MS)).toMatch(/acknowledgement/)
    session.onFrame({ type: 'ack', height: 5 }, 25_000)
    expect(session.overdueReason(1e9)).toBeNull()
  })
})

describe('where to resume', () => {
  const files = { first: 100, head: 200, headTime: 't200' }
  const place = (height: number) => ({ height, time: `t${height}` })
  const taken = (height: number, from = height) => ({ ...place(height), from: place(from) })

  test.each([
    ['an empty log: the node’s snapshot', null, null, [], 'snapshot', null, null, { needsSeed: true }],
    ['an empty log: a checkpoint, silent to the head', null, null, [150], 'checkpoint', 151, 201, { needsSeed: true }],
    ['an empty log: books at hand', null, 180, [150], 'memory', 181, 181, { needsSeed: true }],
    ['a checkpoint below the log: seamless', 160, null, [120, 150], 'checkpoint', 151, 161, { needsSeed: false }],
    ['a checkpoint ahead of the log is of no use', 140, null, [150], 'snapshot', 141, 141, { needsSeed: true }],
    ['the older of two checkpoints', 140, null, [150, 130], 'checkpoint', 131, 141, { needsSeed: false }],
    ['a checkpoint that the files no longer continue', 160, null, [90], 'snapshot', 161, 161, { needsSeed: true }],
    ['a log that ends before the files begin', 80, null, [70], 'snapshot', 100, 81, { gone: { from: 81, to: 99 } }],
    ['the last height that still needs no gap', 99, null, [99], 'checkpoint', 100, 100, { gone: null }],
  ] as const)('%s', (_, durable, memory, checkpoints, books, readFrom, sendFrom, more) => {
    const at = memory === null ? null : place(memory)
    const heads = checkpoints.map((height) => taken(height))
    const point = resumePoint({ durable, seeded: true }, files, at, heads)
    expect(point).toMatchObject({ books, readFrom, sendFrom, ...more })
  })

  test('after a checkpoint over several blocks, reading starts at its first block, and the log must have its last', () => {
    const point = (durable: number, from: number) =>
      resumePoint({ durable, seeded: true }, files, null, [taken(160, from), taken(130)])
    expect(point(170, 150)).toMatchObject({ books: 'checkpoint', checkpoint: 160, readFrom: 151, sendFrom: 171 })
    expect(point(155, 150), 'the log ends between').toMatchObject({ checkpoint: 130, readFrom: 131, sendFrom: 156 })
    expect(point(170, 98), 'the files begin between').toMatchObject({ checkpoint: 130, readFrom: 131 })
  })

  test('an unseeded gateway gets a seed at the end of its log', () => {
    expect(resumePoint({ durable: 160, seeded: false }, files, null, [taken(150)])).toMatchObject({ needsSeed: true })
  })

  test('a node that started over is distinguished from one that continues', () => {
    const ending = (head: number, headTime = `t${head}`) => ({ first: 100, head, headTime })
    expect(startedOverMessage(place(150), ending(200), 't150')).toBeNull()
    expect(startedOverMessage(place(150), ending(200), null)).toBeNull()
    expect(startedOverMessage(place(150), ending(149, 't160'), null)).toMatch(/started over/)
    expect(startedOverMessage(place(150), ending(149), null), 'a restarted node writes again').toBeNull()
    expect(startedOverMessage(place(150), ending(200), 't151')).toMatch(/another chain/)
  })
})

// FEED-37
test('a part of an order-level book waits for everything that is due and for a pause, and never splits a frame', async () => {
  const session = flowing(1, 1)
  const coins = ['BTC']
  session.onFrame({ type: 'want', orders: { add: [], drop: [] }, l4: { add: coins, drop: [] } }, 0)
  session.addBlock({ ...block(2), l4: [{ coin: 'BTC', statuses: [], diffs: [] }] })
  session.onFrame({ type: 'l4Reseed', coins }, 0)
  void session.l4.offer({ coin: 'BTC', height: 1, isFirst: true, text: 'old' })
  void session.l4.offer({ coin: 'BTC', height: 2, isFirst: true, text: 'part' })
  expect(session.takeL4Part(0)).toBeNull()
  expect(sent(session)).toEqual(['1', '2'])
  session.onFrame({ type: 'reseed', coins: ['ETH'], reason: '' }, 0)
  session.openSnapshot(
    new SnapshotEncoder({ scope: 'coins', height: 2, time: 2 }, ['ETH'], { depths: () => [0, 0], side: () => [] }),
  )
  expect(session.takeL4Part(0)).toBeNull()
  session.dropSnapshot()
  session.onFrame({ type: 'slow', retryMs: 5 }, 0)
  expect(session.takeL4Part(4)).toBeNull()
  expect([session.takeL4Part(5), session.takeL4Part(5)]).toEqual(['part', null])
})

// FEED-35
test('rows that make a block too long are left out without losing the block', () => {
  const session = flowing(1, 1)
  session.onFrame({ type: 'want', orders: { add: [], drop: [] }, l4: { add: ['BTC'], drop: [] } }, 0)
  const l4Of = (rows: number) => [{ coin: 'BTC', statuses: Array(rows).fill('x'.repeat(256 * 1024)), diffs: [] }]
  session.addBlock({ ...block(2), l4: l4Of(1) })
  session.addBlock({ ...block(3), l4: l4Of(65) })
  const frames = session.drain(0, ROOM).map((text) => FeederFrame.parse(JSON.parse(text)))
  expect(frames.map((frame) => 'l4' in frame)).toEqual([false, true, false])
  // Its run of rows ends at this height.
  session.onFrame({ type: 'l4Reseed', coins: ['BTC'] }, 0)
  expect(session.l4.isDue).toBe(false)
  session.addBlock({ ...block(4), l4: l4Of(1) })
  expect(session.l4.isDue).toBe(true)
})

// FEED-35
test('rows are left out while much is unsent, so that a slow connection keeps up with blocks', () => {
  const session = flowing(1, 1)
  session.onFrame({ type: 'want', orders: { add: [], drop: [] }, l4: { add: ['BTC'], drop: [] } }, 0)
  const l4 = [{ coin: 'BTC', statuses: ['x'.repeat(1024 * 1024)], diffs: [] }]
  let height = 1
  /** Which of the next blocks have rows. */
  const made = (blocks: number) => {
    const from = height + 1
    for (let n = 0; n < blocks; n++) session.addBlock({ ...block(++height), l4 })
    return (texts: readonly string[]) =>
      texts.map((text) => JSON.parse(text)).map((one) => one.height >= from && !!one.l4)
  }
  const hasRows = made(20)
  expect(hasRows(session.drain(0, ROOM)).filter(Boolean)).toHaveLength(8)
  const again = made(3)
  expect(again(session.drain(0, ROOM))).toEqual([true, true, true])
})
