import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Cursor } from '../../../src/protocol/feed/log-api.ts'
import { type AttachOutcome, Link, SILENCE_MS } from '../../../src/relay/links/link.client.ts'
import { MaintenanceTimer } from '../../../src/relay/maintenance-timer.client.ts'

/** A writer that dials when asked, or fails. */
class Writer {
  readonly attachedMs: number[] = []
  readonly cursors: (Cursor | null)[] = []
  readonly told: string[] = []
  outcome: AttachOutcome = { epoch: 'e', height: 10, lost: false }
  isDown = false
  isNeeded = true
  socket = this.#dial()
  readonly link: Link

  /** `draw`: the random value. */
  constructor(draw = 0) {
    const ports = {
      attach: async (cursor: Cursor | null) => {
        this.cursors.push(cursor)
        this.attachedMs.push(Date.now())
        if (this.isDown) throw new Error('down')
        this.socket = this.#dial()
        this.link.accept(this.socket, Date.now())
        return this.outcome
      },
      isNeeded: () => this.isNeeded,
      onLost: () => this.told.push('lost'),
      onRestart: () => this.told.push('restarted'),
      onFirstFrame: () => this.told.push('began'),
    }
    this.link = new Link(ports, () => draw)
  }

  #dial(): WebSocket {
    return { close: () => undefined } as unknown as WebSocket
  }

  /** Its socket closes, with the immediate consequences. */
  async breaks(): Promise<void> {
    this.link.onClosed(this.socket)
    await vi.advanceTimersByTimeAsync(0)
  }

  frame(height: number, epoch: string | null = 'e'): boolean {
    return this.link.admit(this.socket, height, epoch, Date.now())
  }
}

let writer: Writer
beforeEach(() => {
  vi.useFakeTimers()
  writer = new Writer()
})
afterEach(() => vi.useRealTimers())

test('concurrent callers share one attach, and frames up to the current height are dropped', async () => {
  await Promise.all([writer.link.ensure(), writer.link.ensure()])
  await writer.link.ensure()
  expect(writer.cursors).toEqual([null])
  expect([10, 11, 11, 12].map((height) => writer.frame(height))).toEqual([false, true, false, true])
})

test('a lost link is requested at once from its cursor, then with backoff', async () => {
  await writer.link.ensure()
  writer.frame(11)
  writer.isDown = true
  await writer.breaks()
  expect(writer.cursors).toEqual([null, { epoch: 'e', height: 11 }])
  await vi.advanceTimersByTimeAsync(199)
  expect(writer.cursors).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(writer.cursors).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(399)
  expect(writer.cursors).toHaveLength(3)
  writer.isDown = false
  await vi.advanceTimersByTimeAsync(1)
  expect(writer.link.isUp).toBe(true)
  expect(writer.told).toEqual([])
})

test('links with different jitter do not redial together', async () => {
  const waitsOf = async (draw: number) => {
    const one = new Writer(draw)
    await one.link.ensure()
    one.isDown = true
    one.link.onClosed(one.socket)
    await vi.advanceTimersByTimeAsync(60_000)
    one.isNeeded = false
    const [, ...redials] = one.attachedMs
    return redials.slice(1, 9).map((at, i) => at - redials[i]!)
  }
  const longest = [400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]
  expect(await waitsOf(0)).toEqual(longest.map((ms) => ms / 2))
  expect(await waitsOf(0.5)).toEqual(longest.map((ms) => ms * 0.75))
  const last = await waitsOf(0.999_999)
  expect(last.map((ms, i) => ms < longest[i]! && ms >= longest[i]! - 1)).toEqual(longest.map(() => true))
})

test('silence is detected by the check; an unneeded link is dropped', async () => {
  await writer.link.ensure()
  vi.setSystemTime(Date.now() + SILENCE_MS - 1)
  writer.link.check(Date.now())
  expect(writer.link.isUp).toBe(true)
  vi.setSystemTime(Date.now() + 1)
  writer.link.check(Date.now())
  await vi.advanceTimersByTimeAsync(0)
  expect(writer.cursors).toHaveLength(2)
  writer.isNeeded = false
  writer.link.check(Date.now())
  expect(writer.link.isUp).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(writer.cursors).toHaveLength(2)
})

// WS-35
test('waiting callers learn once when an empty writer starts', async () => {
  writer.outcome = { epoch: null, height: null, lost: false }
  await writer.link.ensure()
  await writer.breaks()
  expect([writer.frame(700, null), writer.frame(701, null)]).toEqual([true, true])
  expect(writer.told).toEqual(['began'])
  writer.outcome = { epoch: 'e', height: 701, lost: false }
  await writer.breaks()
  expect([writer.frame(702), writer.told]).toEqual([true, ['began']])
})

// WS-35
test.each([
  [true, ['began']],
  [false, []],
])('a writer that starts while the link is down has started without them, %s', async (isNeeded, notices) => {
  writer.outcome = { epoch: null, height: null, lost: false }
  await writer.link.ensure()
  writer.isNeeded = isNeeded
  writer.link.check(Date.now())
  writer.isNeeded = true
  writer.outcome = { epoch: 'e', height: 705, lost: false }
  writer.link.onClosed(writer.socket)
  await writer.link.ensure()
  expect([writer.frame(705), writer.frame(706), writer.told]).toEqual([false, true, notices])
})

test('loss is reported, by the writer or by a jump of its first frame', async () => {
  await writer.link.ensure()
  writer.frame(11)
  writer.outcome = { epoch: 'e', height: 20, lost: true }
  await writer.breaks()
  expect(writer.told).toEqual(['lost'])
  expect(writer.frame(21)).toBe(true)
  writer.outcome = { epoch: 'e', height: 30, lost: false }
  await writer.breaks()
  expect(writer.frame(31)).toBe(true)
  expect(writer.told).toEqual(['lost', 'lost'])
  // Within a link a jump is a gap of the chain, which the writer explains.
  expect(writer.frame(40)).toBe(true)
  expect(writer.told).toHaveLength(2)
})

test('a new epoch with lower heights is another chain; an old epoch coming back is not', async () => {
  await writer.link.ensure()
  writer.frame(11)
  writer.frame(12, 'f')
  expect(writer.frame(11, 'e')).toBe(false)
  expect(writer.told).toEqual([])
  expect(writer.frame(3, 'g')).toBe(true)
  expect(writer.told).toEqual(['restarted'])
  expect(writer.frame(4, 'g')).toBe(true)
})

test.each([null, 3])(
  'a log that restarts, at %s, is detected on attach without an epoch in its frames',
  async (height) => {
    await writer.link.ensure()
    writer.frame(500, null)
    writer.outcome = { epoch: null, height, lost: false }
    await writer.breaks()
    expect(writer.told).toEqual(['restarted'])
    expect(writer.frame(4, null)).toBe(true)
  },
)

test('a link gives up on a writer that does not respond within five seconds', async () => {
  const link = new Link({
    attach: () => new Promise(() => undefined),
    isNeeded: () => false,
    onLost: () => undefined,
    onRestart: () => undefined,
  })
  const failed = expect(link.ensure()).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(5000)
  await failed
})

describe('watch', () => {
  /** A relay of five minutes with a frame every second while `feeds`; its checks and alarms. */
  async function run(state: 'busy' | 'idle' | 'none', feeds: (second: number) => boolean) {
    const looks: number[] = []
    const alarms: number[] = []
    let due: number | null = null
    const began = Date.now()
    const second = () => Math.round((Date.now() - began) / 1000)
    const storage = {
      getAlarm: async () => due,
      setAlarm: async (at: number, options: object) => {
        due = at
        alarms.push(second())
        // A confirmed write would delay frames.
        expect(options).toEqual({ allowUnconfirmed: true })
      },
    }
    const watch = new MaintenanceTimer(
      storage,
      () => undefined,
      () => Date.now(),
    )
    await watch.start(() => state, [() => void looks.push(second())])
    for (let i = 0; i < 300; i++) {
      vi.advanceTimersByTime(1000)
      if (feeds(i)) watch.onFrame()
      if (due !== null && due <= Date.now()) {
        due = null
        watch.onAlarm()
      }
    }
    const gaps = looks.map((at, i) => at - (looks[i - 1] ?? 0))
    return { looks, alarms, longest: Math.max(...gaps, 300 - (looks.at(-1) ?? 0)) }
  }

  test('with frames, tasks run every five seconds and an alarm is written once a minute', async () => {
    const { alarms, longest } = await run('busy', () => true)
    expect(longest).toBeLessThanOrEqual(6)
    expect(alarms.length).toBeLessThanOrEqual(7)
  })

  test('without frames, alarms take over, and nothing keeps the relay awake', async () => {
    const { longest } = await run('busy', (second) => second % 100 < 50)
    expect(longest).toBeLessThanOrEqual(10)
    await run('busy', (second) => second < 50)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('silent sockets are checked by alarms only, and an empty relay sleeps', async () => {
    const { alarms, longest } = await run('idle', () => false)
    expect([alarms.length, longest]).toEqual([31, 10])
    expect(await run('none', () => false)).toMatchObject({ looks: [], alarms: [] })
  })
})
