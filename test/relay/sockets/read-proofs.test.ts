import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Connection, LATE_MS, MAX_LATE_MS } from '../../../src/relay/sockets/connection.ts'
import { MAX_PAUSE_MS, ReadProofs, RunningClock } from '../../../src/relay/sockets/read-proofs.ts'
import { LIGHT, RelayUnread } from '../../../src/relay/sockets/unread.ts'
import { identityOf } from '../../kit/identity.ts'

const STEP_MS = 100

/** A client that reads a number of bytes a second, and that pings at an interval with the nonce of the last pong that it read. */
class Reader {
  nowMs = 0
  readonly notices: { atMs: number; ageMs: number }[] = []
  closedAtMs: number | null = null
  closeCode = 0
  readonly connection: Connection
  readonly #unread = new RelayUnread({ ...LIGHT, bytes: Number.MAX_SAFE_INTEGER }, 0)
  readonly #queue: { text: string; atMs: number; left: number }[] = []
  readonly #readsPerSecond: number
  readonly #pingMs: number
  #nonce = ''
  #pings = 0

  constructor(readsPerSecond: number, pingMs: number) {
    this.#readsPerSecond = readsPerSecond
    this.#pingMs = pingMs
    const nowMs = () => this.nowMs
    const clock = {
      get nowMs() {
        return nowMs()
      },
    }
    const sink = {
      send: (text: string) => {
        const { code, age_ms: ageMs } = JSON.parse(text)
        if (code === 'late' && ageMs) this.notices.push({ atMs: this.nowMs, ageMs })
        this.#queue.push({ text, atMs: this.nowMs, left: text.length })
      },
      close: (code: number) => {
        this.closedAtMs ??= this.nowMs
        this.closeCode = code
      },
    }
    const identity = identityOf('entry', ['stream'])
    this.connection = new Connection('c', { identity, terms: 0 }, sink, clock, () => undefined, this.#unread)
    this.#ping()
    this.#read(Number.POSITIVE_INFINITY)
  }

  /** Age of the oldest unread frame. */
  get ageMs(): number {
    return this.nowMs - (this.#queue[0]?.atMs ?? this.nowMs)
  }

  step(): void {
    this.nowMs += STEP_MS
    this.#read((this.#readsPerSecond * STEP_MS) / 1000)
    if (this.nowMs % MAX_PAUSE_MS === 0) this.#unread.presumeRead(this.nowMs)
    if (this.nowMs % this.#pingMs === 0) this.#ping()
  }

  /** The relay runs nothing for this time, while the client reads everything and pings. Then it handles the pings. */
  stall(ms: number, pingMs: number): void {
    const nonces: string[] = []
    for (let at = 0; at < ms; at += pingMs) {
      nonces.push(this.#nonce)
      this.#read(Number.POSITIVE_INFINITY)
    }
    this.nowMs += ms
    for (const nonce of nonces) this.#ping(nonce)
  }

  #ping(returned = this.#nonce): void {
    const nonce = this.connection.onPing(returned, `n${++this.#pings}`)
    this.connection.send(`{"channel":"pong","nonce":"${nonce}"}`)
  }

  #read(bytes: number): void {
    let budget = bytes
    for (let [first] = this.#queue; first !== undefined && budget > 0; [first] = this.#queue) {
      const read = Math.min(budget, first.left)
      budget -= read
      first.left -= read
      if (first.left > 0) return
      this.#queue.shift()
      const { channel, nonce } = JSON.parse(first.text)
      if (channel === 'pong') this.#nonce = nonce
    }
  }
}

const frameOf = (bytes: number) => JSON.stringify({ channel: 'x', data: 'y'.repeat(bytes) })
/** At most sixteen pongs are outstanding, so the measure is a little less exact for frequent pings. */
const PINGS = fc.constantFrom(500, 1_000, 5_000, 10_000)

// WS-65
test('a client that reads more slowly than it is sent to is notified once and then closed, in time and never early', () => {
  const share = fc.double({ min: 0.05, max: 0.9, noNaN: true })
  fc.assert(
    fc.property(share, PINGS, fc.integer({ min: 400, max: 40_000 }), (readShare, pingMs, bytes) => {
      const frame = frameOf(bytes)
      const reader = new Reader((readShare * frame.length * 1000) / STEP_MS, pingMs)
      while (reader.closedAtMs === null) {
        reader.connection.send(frame)
        reader.step()
        const { ageMs, notices } = reader
        if (notices.length === 0) expect(ageMs).toBeLessThan(1.2 * LATE_MS + 2 * pingMs)
        if (notices[0]?.atMs === reader.nowMs) expect(notices[0].ageMs).toBeLessThanOrEqual(ageMs)
        if (reader.closedAtMs === null) expect(ageMs).toBeLessThan(1.2 * MAX_LATE_MS + 2 * pingMs)
      }
      expect(reader.notices).toHaveLength(1)
      expect(reader.notices[0]!.ageMs).toBeGreaterThanOrEqual(LATE_MS)
      expect([reader.closeCode, reader.ageMs >= MAX_LATE_MS]).toEqual([4413, true])
    }),
    { numRuns: 40 },
  )
})

// WS-65
test('a client that keeps up is never notified, whatever the frames and its pings', () => {
  const sends = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 900, maxLength: 900 })
  fc.assert(
    fc.property(sends, PINGS, (sizes, pingMs) => {
      const reader = new Reader(600_000, pingMs)
      for (const bytes of sizes) {
        if (bytes > 0) reader.connection.send(frameOf(bytes))
        reader.step()
      }
      expect(reader.ageMs).toBeLessThan(LATE_MS)
      expect([reader.notices, reader.closedAtMs]).toEqual([[], null])
    }),
    { numRuns: 20 },
  )
})

test('a client that falls behind twice and recovers is notified twice', () => {
  const reader = new Reader(10_000, 5_000)
  for (let turn = 0; turn < 2; turn++) {
    reader.connection.send(frameOf(180_000))
    for (let i = 0; i < 300; i++) {
      if (i < 100) reader.connection.send(frameOf(100))
      reader.step()
    }
  }
  expect([reader.notices.length, reader.closedAtMs]).toEqual([2, null])
})

// WS-61
test('a large snapshot may take minutes to read; only what comes after it counts', () => {
  const reader = new Reader(100_000, 5_000)
  for (let i = 0; i < 100; i++) reader.step()
  expect(reader.connection.snapshotWaitMs(5_000_000)).toBe(0)
  // It is fetched after room was granted, with a ping in between.
  for (let i = 0; i < 30; i++) reader.step()
  reader.connection.send(frameOf(9_000_000))
  for (let i = 0; i < 1_200; i++) {
    reader.connection.send(frameOf(100))
    reader.step()
  }
  expect([reader.notices, reader.closedAtMs, reader.ageMs]).toEqual([[], null, 0])
})

// WS-61
test('a snapshot that is sent long after its admission does not count as late, and other data counts again', () => {
  const reader = new Reader(100_000, 5_000)
  const blocks = (seconds: number) => {
    for (let i = 0; i < seconds * 10 && reader.closedAtMs === null; i++) {
      reader.connection.send(frameOf(100))
      reader.step()
    }
  }
  expect(reader.connection.snapshotWaitMs(5_000_000)).toBe(0)
  blocks(12)
  reader.connection.send(frameOf(4_500_000))
  blocks(100)
  expect([reader.notices, reader.closedAtMs, reader.ageMs]).toEqual([[], null, 0])
  // Admitted, but never sent.
  expect(reader.connection.snapshotWaitMs(5_000_000)).toBe(0)
  blocks(40)
  reader.connection.send(frameOf(4_500_000))
  blocks(60)
  expect(reader.closeCode).toBe(4413)
})

// WS-65
test('a stall of the relay does not count as late reading, whenever it happens', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 900 })), { maxLength: 5 }),
      fc.constantFrom(500, 5_000, 20_000),
      (turns, pingMs) => {
        const reader = new Reader(600_000, 500)
        for (const [steps, stall] of turns) {
          for (let i = 0; i < steps; i++) {
            reader.connection.send(frameOf(1_000))
            reader.step()
          }
          // The client pings before it has read the last pong.
          reader.connection.send(`{"channel":"pong","nonce":"${reader.connection.nextNonce('last')}"}`)
          reader.stall(stall * STEP_MS, pingMs)
        }
        expect([reader.notices, reader.closedAtMs]).toEqual([[], null])
      },
    ),
  )
})

test('the running clock never runs backward, nor faster than time', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -100_000, max: 100_000 })), (steps) => {
      const clock = new RunningClock(0)
      let now = 0
      for (const step of steps) {
        now += step
        const before = clock.at(now - step).runningMs
        const passed = clock.at(now).runningMs - before
        expect(passed).toBe(Math.min(Math.max(0, step), MAX_PAUSE_MS))
      }
    }),
  )
})

test('only a client that returns nonces is measured', () => {
  for (const nonce of ['', 'guess']) {
    const proofs = new ReadProofs()
    for (let i = 0; i < 100; i++) {
      const at = { nowMs: i * 10_000, runningMs: i * 10_000 }
      proofs.onNonce(nonce, i * 1_000, at)
      proofs.nextNonce(`n${i}`, i * 1_000, at)
    }
    expect(proofs.lateMs).toBe(0)
  }
})
