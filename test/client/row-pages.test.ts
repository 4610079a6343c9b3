// A block with more rows of one wallet than a page: each row is read once and in order over HTTP, with the client
// package, and with the Python package. By time alone, the rest of the block cannot be read.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/create-client.client.ts'
import { ok } from '../../src/core/result.ts'
import type { EventBlock } from '../../src/protocol/feed/durable-api.ts'
import { HASH, USER } from '../../src/protocol/info/examples.ts'
import { PYTHON, runPython } from '../conformance/package/python.ts'
import { createWorld } from '../info/answer/service-world.ts'
import { blockOf, filesOf, type Kept, logOf } from '../info/stored-blocks.ts'

const START = 1_790_000_000_000
const timeAt = (height: number) => START + 70 * height
const DENSE = 6
const ledgerAt = (height: number, rows: number): EventBlock => ({
  ...blockOf(height, timeAt(height), 0),
  ledger: Array.from({ length: rows }, (_, at) => ({
    users: [USER],
    time: timeAt(height),
    hash: HASH,
    delta: { type: 'deposit', usdc: `${height}.${at}` },
  })),
})
/** Blocks of one kind, from 2 on, around the dense one; the first half is in files, the rest in the log. */
function keptOf(blockAt: (height: number, rows: number) => EventBlock, around: number, dense: number): Kept {
  const blocks = Array.from({ length: 10 }, (_, i) => blockAt(i + 2, i + 2 === DENSE ? dense : around))
  return { blocks, head: { height: 11, time: timeAt(11) }, logFrom: 8, filesFrom: 1, filesTo: 9 }
}
function fillsAt(height: number, rows: number): EventBlock {
  const { fills, ...block } = blockOf(height, timeAt(height), rows, { twapId: 3 })
  return { ...block, fills: fills.map(([user, fill], at) => [user, { ...fill, tid: 10_000 * height + at }]) }
}
const FILLS = keptOf(fillsAt, 278, 2_500)
const LEDGER = keptOf(ledgerAt, 60, 700)

/** A gateway that speaks HTTP. */
async function gatewayOf(kept: Kept) {
  const world = createWorld({ files: filesOf(() => kept) })
  world.held = logOf(kept)
  world.upstream = () => ok('[]')
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await world.send(await text(request))
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { world, url, stop: () => server.close() }
}
let fills: Awaited<ReturnType<typeof gatewayOf>>
let ledger: Awaited<ReturnType<typeof gatewayOf>>
beforeAll(async () => {
  fills = await gatewayOf(FILLS)
  ledger = await gatewayOf(LEDGER)
})
afterAll(() => {
  fills.stop()
  ledger.stop()
})

const LISTS = [
  ['userFillsByTime', () => fills, { startTime: START }],
  ['userFillsByTime', () => fills, { startTime: START, reversed: true }],
  ['userTwapSliceFillsByTime', () => fills, { startTime: START }],
  ['userNonFundingLedgerUpdates', () => ledger, { startTime: START }],
] as const
type Row = { tid?: number; fill?: { tid: number }; delta?: { usdc: string } }
/** What identifies a row. */
const idOf = ({ tid, fill, delta }: Row) => tid ?? fill?.tid ?? delta?.usdc
function expected(type: (typeof LISTS)[number][0], more: object) {
  const isLedger = type === 'userNonFundingLedgerUpdates'
  const { blocks } = isLedger ? LEDGER : FILLS
  const ids = blocks.flatMap((block) =>
    (isLedger ? block.ledger! : block.fills.map(([, fill]) => fill)).map(idOf as never),
  )
  expect(new Set(ids).size).toBe(isLedger ? 9 * 60 + 700 : 9 * 278 + 2_500)
  return 'reversed' in more || type === 'userTwapSliceFillsByTime' ? ids.reverse() : ids
}

describe.each(LISTS)('%s, %#', (type, gateway, more) => {
  it('has every row once over HTTP', async () => {
    const rows: Row[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const body = JSON.stringify({ type, user: USER, ...more, cursor })
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(`${gateway().url}/info`, { method: 'POST', headers, body })
      expect(reply.status).toBe(200)
      rows.push(...((await reply.json()) as Row[]))
      cursor = reply.headers.get('x-next-cursor')
    }
    expect(rows.map(idOf)).toEqual(expected(type, more))
  })

  it('has every row once in the client package', async () => {
    const client = createClient({ url: gateway().url, key: 'key' })
    const rows: Row[] = []
    for await (const { data } of client.history(type, { user: USER, ...more })) rows.push(...(data as readonly Row[]))
    expect(rows.map(idOf)).toEqual(expected(type, more))
  })

  it.skipIf(PYTHON === undefined)('has every row once in Python', async () => {
    const fields = JSON.stringify({ user: USER, ...more })
    const pages = await runPython([join(import.meta.dirname, 'row-pages.py'), gateway().url, 'key', type, fields])
    expect((JSON.parse(pages) as Row[][]).flat().map(idOf)).toEqual(expected(type, more))
  })
})

it('by time, the rest of a dense block stays out of reach, as on the exchange', async () => {
  const page = async (startTime: number) => {
    const { body } = await fills.world.send({ type: 'userFillsByTime', user: USER, startTime })
    return JSON.parse(body) as (Row & { time: number })[]
  }
  const dense = await page(timeAt(DENSE))
  expect([dense.length, dense.at(-1)!.time]).toEqual([2_000, timeAt(DENSE)])
  expect(await page(dense.at(-1)!.time)).toEqual(dense)
})
