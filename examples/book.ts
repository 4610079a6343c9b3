// Follows the full order book of one coin and never shows a wrong one. A book is shown only while every change since
// the server's snapshot arrived in order and its checksum matches. It needs only the platform's WebSocket, so
// `followBook` runs unchanged in Node, Deno, Bun and browsers.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/book.ts BTC

type Level = { px: string; sz: string; n: number }
type Levels = [bids: Level[], asks: Level[]]
type Snapshot = { epoch: string; height: number; seq: number; levels: Levels }
type Diff = { seq: number; prev_seq: number; levels: Levels; checksum: number }
type Batch = { epoch: string; block_height: number; book_diffs: [Diff] }
type Sides = [bids: Map<string, Level>, asks: Map<string, Level>]
export type Book = { epoch: string; height: number; seq: number; sides: Sides }

/** Errors that a retry cannot fix: an invalid key, no credits, an unknown coin. */
const FINAL: unknown[] = [4401, 4402, 'unauthorized', 'credits_exhausted', 'not_found', 'invalid_request']

/** Calls `changed` with the book after each change, and with null when the book can no longer be trusted. */
export function followBook(url: string, key: string, coin: string, changed: (book: Book | null) => void): void {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?key=${key}`)
  const send = (frame: object) => socket.send(JSON.stringify(frame))
  let book: Book | null = null
  let isAlive = false
  const waiting: Batch[] = []
  const take = (batch: Batch) => {
    const { epoch, block_height: height, book_diffs } = batch
    const [{ seq, prev_seq, levels, checksum }] = book_diffs
    if (!book) return waiting.push(batch)
    if (epoch !== book.epoch) return lost('the server restarted its books')
    if (height <= book.height) return
    if (prev_seq !== book.seq) return lost('a change is missing')
    book = { epoch, height, seq, sides: put(book.sides, levels) }
    if (checksumOf(book.sides) !== checksum) return lost('the checksum does not match')
    changed(book)
  }
  const seed = (found?: Snapshot) => {
    if (!found) return lost('the server rejected the snapshot request')
    book = { ...found, sides: put([new Map(), new Map()], found.levels) }
    changed(book)
    waiting.forEach(take)
  }
  const lost = (why: string, code?: unknown) => {
    clearInterval(pings)
    socket.onmessage = socket.onclose = book = null
    socket.close()
    console.error(`${coin}: ${why}`)
    changed(null)
    if (!FINAL.includes(code)) setTimeout(followBook, 1000 + 2000 * Math.random(), url, key, coin, changed)
  }
  const pings = setInterval(() => {
    if (!isAlive) return lost('no data for 20 s')
    isAlive = false
    send({ method: 'ping' })
  }, 20_000)
  const ended = ({ code, reason }: CloseEvent) => lost(`closed with ${code} ${reason}`, code)
  socket.onopen = () => {
    socket.onclose = ended
    send({ method: 'subscribe', subscription: { type: 'l2BookDiff2', coin, checksum: true } })
  }
  socket.onclose = async (event) => {
    clearInterval(pings)
    const { msg, code } = await refusal(url, key, coin)
    if (code) lost(msg, code)
    else ended(event)
  }
  socket.onmessage = (event) => {
    isAlive = true
    const { channel, data, code } = JSON.parse(event.data)
    const snapshot = { type: 'info', payload: { type: 'l2BookDiffSnapshot', coin } }
    if (channel === 'subscriptionResponse') send({ method: 'post', id: 1, request: snapshot })
    else if (channel === 'l2BookDiff2') take(data.Updates)
    else if (channel === 'post') seed(data.response.payload.data)
    else if (channel === 'error') lost(data, code)
  }
}

/** A WebSocket does not show why a connection was refused. The same key gets the same error over HTTP. */
async function refusal(url: string, key: string, coin: string): Promise<{ msg: string; code?: string }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ type: 'l2BookDiffSnapshot', coin })
  const question = { method: 'POST', headers, body, signal: AbortSignal.timeout(5000) }
  const answer = await fetch(`${url}/info`, question)
    .then((response) => response.json())
    .catch(() => null)
  return (answer ?? {}) as { msg: string; code?: string }
}

function put(sides: Sides, levels: Levels): Sides {
  for (const side of [0, 1] as const)
    for (const level of levels[side])
      if (level.n === 0) sides[side].delete(level.px)
      else sides[side].set(level.px, level)
  return sides
}

/** Best first. A float is precise enough for sorting; use decimals for arithmetic. */
export function sorted([bids, asks]: Sides): Levels {
  const up = (a: Level, b: Level) => Number(a.px) - Number(b.px)
  return [[...bids.values()].sort(up).reverse(), [...asks.values()].sort(up)]
}

/** CRC-32 of the ten best levels per side. The server sends the same checksum with each change. */
function checksumOf(sides: Sides): number {
  const text = (side: Level[]) => side.slice(0, 10).map(({ px, sz, n }) => `${px}:${sz}:${n}`)
  let crc = -1
  for (const char of sorted(sides)
    .map((side) => text(side).join(':'))
    .join('/')) {
    crc ^= char.charCodeAt(0)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

if (import.meta.main) {
  const { WEIR_URL: url, WEIR_KEY: key } = process.env
  const [coin, ...more] = process.argv.slice(2)
  if (!url || !key || !coin || more.length > 0) {
    console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/book.ts COIN')
    process.exit(2)
  }
  followBook(url.replace(/\/$/, ''), key, coin, (book) => {
    const [[bid], [ask]] = book ? sorted(book.sides) : [[], []]
    console.log(bid && ask ? `${bid.px} × ${bid.sz}  ${ask.px} × ${ask.sz}  seq ${book?.seq}` : 'no book')
  })
}
