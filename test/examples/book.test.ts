// The law of examples/book.ts, over servers and networks that do whatever they like: what it shows is the server's book
// of that epoch and seq, and when the faults end it shows the newest one again.

import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Book, followBook, sorted } from '../../examples/book.ts'

type Levels = ReturnType<typeof sorted>
type Fault = (typeof FAULTS)[number]
const COIN = 'BTC'

/** The server's side: one coin's book, every state of it that there was, and the socket that is open. */
class Model {
  epoch = 1
  height = 100
  seq = 100
  bids = new Map([['10', 1]])
  readonly states = new Map<string, Levels>()
  sockets: FakeSocket[] = []
  next: Fault | null = null

  constructor() {
    this.note()
  }
  get levels(): Levels {
    const bids = [...this.bids].sort(([a], [b]) => Number(b) - Number(a))
    return [bids.map(([px, n]) => ({ px, sz: `${n}`, n })), []]
  }
  note(): void {
    this.states.set(`${this.epoch}@${this.seq}`, this.levels)
  }
  snapshot() {
    return { coin: COIN, time: 0, epoch: `${this.epoch}`, height: this.height, seq: this.seq, levels: this.levels }
  }
  /** A block that sets one price to `n` orders, none takes it away. */
  block(px: string, n: number, fault: Fault | null): void {
    const before = this.seq
    if (fault === 'new epoch') {
      // Heights begin anew as well: the operator has reset the feed.
      this.epoch++
      this.height = 50
    }
    this.height++
    this.seq = this.height
    if (n === 0) this.bids.delete(px)
    else this.bids.set(px, n)
    this.note()
    const levels = fault === 'unknown' ? [[], []] : [[{ px, sz: `${n}`, n }], []]
    const best = this.levels[0].slice(0, 10).map(({ px, sz, n }) => `${px}:${sz}:${n}`)
    const checksum = crc32(`${best.join(':')}/`)
    const told = fault === 'altered' ? [[{ px, sz: '7', n: 7 }], []] : levels
    const diff = { coin: COIN, seq: this.seq, prev_seq: fault === 'unknown' ? -1 : before, levels: told, checksum }
    const batch = { time: 0, epoch: `${this.epoch}`, block_height: this.height, cursor: '', book_diffs: [diff] }
    for (const socket of this.sockets.slice()) socket.bring({ channel: 'l2BookDiff2', data: { Updates: batch } }, fault)
  }
  request(socket: FakeSocket, payload: unknown): void {
    const found = this.next === 'refused' ? null : this.snapshot()
    const isLate = this.next === 'late'
    this.next = null
    const response = found
      ? { type: 'info', payload: { type: 'x', data: found } }
      : { type: 'error', payload: '503: x' }
    expect(payload).toEqual({ type: 'l2BookDiffSnapshot', coin: COIN })
    const answer = () => socket.bring({ channel: 'post', data: { id: 1, response } }, null)
    if (isLate) setTimeout(answer, 40)
    else answer()
  }
}

let model: Model

class FakeSocket {
  onopen: (() => void) | null = null
  onclose: ((event: { code: number; reason: string }) => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  #isSilent = false

  constructor(url: string) {
    expect(url).toBe('ws://weir/ws?key=key')
    setTimeout(() => {
      this.onopen?.()
    }, 10)
  }
  send(text: string): void {
    const { method, subscription, request } = JSON.parse(text)
    if (method === 'subscribe') {
      expect(subscription).toEqual({ type: 'l2BookDiff2', coin: COIN, checksum: true })
      model.sockets.push(this)
      this.bring({ channel: 'subscriptionResponse', data: { method, subscription } }, null)
    } else if (method === 'post') setTimeout(() => model.request(this, request.payload), 10)
    else this.bring({ channel: 'pong' }, null)
  }
  bring(frame: object, fault: Fault | null): void {
    if (fault === 'silent') this.#isSilent = true
    if (fault === 'closed') this.end(1006)
    if (this.#isSilent || fault === 'lost') return
    for (let i = fault === 'twice' ? 2 : 1; i > 0; i--) this.onmessage?.({ data: JSON.stringify(frame) })
  }
  end(code: number): void {
    model.sockets = model.sockets.filter((socket) => socket !== this)
    this.onclose?.({ code, reason: '' })
  }
  close(): void {
    setTimeout(() => this.end(1005), 10)
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.spyOn(console, 'error').mockReturnValue()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const FAULTS = ['lost', 'twice', 'closed', 'silent', 'unknown', 'new epoch', 'late', 'refused', 'altered'] as const
const step = fc.record({
  px: fc.constantFrom('9', '9.5', '10', '11'),
  n: fc.nat(2),
  fault: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...FAULTS) }),
  waitMs: fc.constantFrom(0, 5, 70, 70, 3_000, 45_000),
})

it('shows the book of the server at its epoch and seq, whatever happens, and the newest one in the end', () => {
  let shown = 0
  fc.assert(
    fc.property(fc.array(step, { size: 'max', maxLength: 60 }), (steps) => {
      model = new Model()
      let book: Book | null = null
      followBook('http://weir', 'key', COIN, (next) => {
        book = next
        if (!next) return
        shown++
        expect(sorted(next.sides)).toEqual(model.states.get(`${next.epoch}@${next.seq}`))
      })
      for (const { px, n, fault, waitMs } of steps) {
        if (fault === 'late' || fault === 'refused') model.next = fault
        model.block(px, n, fault)
        vi.advanceTimersByTime(waitMs)
      }
      // A block that arrives tells of whatever was lost before it; a dead socket is seen by its silence.
      vi.advanceTimersByTime(60_000)
      model.block('8', 1, null)
      vi.advanceTimersByTime(60_000)
      expect(book).toMatchObject({ epoch: `${model.epoch}`, seq: model.seq })
      expect(model.sockets.length).toBe(1)
      vi.clearAllTimers()
    }),
    { numRuns: 300 },
  )
  expect(shown).toBeGreaterThan(3_000)
})

it('needs one connection where nothing goes wrong, whatever comes while the snapshot is on its way', () => {
  model = new Model()
  model.next = 'late'
  const seen: number[] = []
  followBook('http://weir', 'key', COIN, (book) => seen.push(book?.seq ?? Number.NaN))
  for (let n = 1; n <= 20; n++) {
    model.block('9', n, n % 5 === 0 ? 'twice' : null)
    vi.advanceTimersByTime(5)
  }
  expect(model.sockets.length).toBe(1)
  expect(seen.length).toBeGreaterThan(8)
  expect(seen).toEqual(seen.map((_, at) => 120 - seen.length + 1 + at))
  vi.clearAllTimers()
})

it.each([
  ['is taken away by a close', (socket: FakeSocket) => socket.end(4401)],
  [
    'is refused by name',
    (socket: FakeSocket) => socket.bring({ channel: 'error', data: 'x', code: 'not_found' }, null),
  ],
])('does not try again where what it needs %s', (_, end) => {
  model = new Model()
  followBook('http://weir', 'key', COIN, () => {})
  vi.advanceTimersByTime(100)
  end(model.sockets[0]!)
  vi.advanceTimersByTime(600_000)
  expect(model.sockets).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

/** A gateway that refuses every upgrade, and answers HTTP with `status` and `code`. */
function refuse(answer: Response | Error): { sockets: number; asked: [string, RequestInit][] } {
  const seen: ReturnType<typeof refuse> = { sockets: 0, asked: [] }
  class RefusedSocket {
    onclose: ((event: { code: number; reason: string }) => void) | null = null
    constructor() {
      seen.sockets++
      setTimeout(() => this.onclose?.({ code: 1006, reason: '' }), 10)
    }
    close(): void {}
  }
  vi.stubGlobal('WebSocket', RefusedSocket)
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    seen.asked.push([url, init])
    if (answer instanceof Error) throw answer
    return answer.clone()
  })
  return seen
}
const refused = (code: string) => Response.json({ error: code, code, msg: `Because of ${code}.` }, { status: 400 })

it.each(['unauthorized', 'credits_exhausted'])(
  'says why it was refused, and stops, where HTTP says %s',
  async (code) => {
    const seen = refuse(refused(code))
    followBook('http://weir', 'key', COIN, () => {})
    await vi.advanceTimersByTimeAsync(600_000)
    expect(console.error).toHaveBeenCalledExactlyOnceWith(`BTC: Because of ${code}.`)
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
    expect([seen.sockets, seen.asked.length]).toEqual([1, 1])
    expect(seen.asked[0]).toMatchObject(['http://weir/info', { headers: { authorization: 'Bearer key' } }])
  },
)

it.each([
  ['asks for a pause', refused('rate_limited'), 'BTC: Because of rate_limited.'],
  ['is away', new TypeError('fetch failed'), 'BTC: closed with 1006 '],
  ['answers well', Response.json(null), 'BTC: closed with 1006 '],
])('tries again where the gateway %s', async (_, answer, words) => {
  const seen = refuse(answer)
  followBook('http://weir', 'key', COIN, () => {})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen.sockets).toBeGreaterThan(10)
  // The last socket may not have ended yet.
  expect([0, 1]).toContain(seen.sockets - seen.asked.length)
  expect(console.error).toHaveBeenLastCalledWith(words)
  vi.clearAllTimers()
})
