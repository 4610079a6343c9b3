// What examples/liquidations.ts does with fills, its file and a webhook. The program is run by
// test/conformance/examples.test.ts.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Delivery, postTo, type Reply } from '../../examples/alerts/delivery.ts'
import { type LiquidationFill, LiquidationGroups } from '../../examples/alerts/liquidation-groups.ts'
import { type Alert, alertOf, bodyOf, FORMATS } from '../../examples/alerts/messages.ts'
import { Outbox } from '../../examples/alerts/outbox.ts'
import { scratch } from '../kit/program.ts'

const USER = `0x${'a'.repeat(40)}`
const URL_OF_TELEGRAM = 'https://telegram.example/bot1/sendMessage?chat_id=-7'

function fillOf(tid: number, more: Partial<LiquidationFill> = {}): LiquidationFill {
  const liquidation = { liquidatedUser: USER.toUpperCase().replace('X', 'x'), markPx: '10', method: 'market' }
  return { coin: 'SOL', px: '10.0', sz: '1.5', side: 'A', time: 1_000, oid: 1, tid, liquidation, ...more }
}

describe('LiquidationGroups', () => {
  it('joins the fills of a wallet and coin until a second passes without one', () => {
    const groups = new LiquidationGroups()
    groups.add(USER, fillOf(1), 0)
    groups.add(USER, fillOf(2, { px: '11.0', sz: '0.5' }), 900)
    groups.add(USER, fillOf(3, { coin: 'BTC' }), 900)
    // A fill that comes twice counts once.
    groups.add(USER, fillOf(2, { px: '11.0', sz: '0.5' }), 901)
    expect(groups.due(1_899)).toEqual([])
    const [btc, sol] = groups.due(1_901).sort((a, b) => (a.coin < b.coin ? -1 : 1))
    expect(btc).toMatchObject({ coin: 'BTC', fills: ['BTC 3'] })
    expect(sol).toEqual({
      user: USER,
      coin: 'SOL',
      side: 'long',
      sz: '2',
      usd: '20.50',
      px: '10.25',
      method: 'market',
      time: 1_000,
      fills: ['SOL 1', 'SOL 2'],
    })
    expect([groups.size, groups.due(1e9)]).toEqual([0, []])
  })

  it('ignores the other side of the trades', () => {
    const groups = new LiquidationGroups()
    groups.add(`0x${'b'.repeat(40)}`, fillOf(1), 0)
    expect(groups.size).toBe(0)
  })

  it('ends a group after five seconds or a thousand fills, and loses no fill', () => {
    const groups = new LiquidationGroups()
    const ended: string[] = []
    for (let at = 0; at <= 120; at++) {
      groups.add(USER, fillOf(at), 100 * at)
      ended.push(...groups.due(100 * at).flatMap(({ fills }) => fills))
    }
    expect(ended.length).toBeGreaterThan(80)
    ended.push(...groups.all().flatMap(({ fills }) => fills))
    expect(ended).toEqual(Array.from({ length: 121 }, (_, tid) => `SOL ${tid}`))
    for (let tid = 0; tid < 1_000; tid++) groups.add(USER, fillOf(tid), 0)
    expect(groups.due(1)).toMatchObject([{ sz: '1500' }])
  })
})

describe('messages', () => {
  const liquidation = {
    user: USER,
    coin: 'x<y>:A&B',
    side: 'short' as const,
    sz: '2',
    usd: '20.50',
    px: '10.25',
    method: 'backstop',
    time: 1,
    fills: ['SOL 1'],
  }
  const alert = alertOf(liquidation)

  it('have a body for each service', () => {
    expect(alert.text).toBe(`${USER} short 2 x<y>:A&B at 10.25 (backstop): 20 dollars`)
    const body = Object.fromEntries(FORMATS.map((one) => [one, JSON.parse(bodyOf(one, [alert], 0, URL_OF_TELEGRAM))]))
    expect(body).toEqual({
      slack: { text: alert.text.replace('<y>', '&lt;y&gt;').replace('A&B', 'A&amp;B') },
      discord: { content: alert.text, allowed_mentions: { parse: [] } },
      telegram: { chat_id: '-7', text: alert.text },
      json: { alerts: [alert], dropped: 0 },
    })
  })

  it('say how many alerts were dropped, and fit into a message', () => {
    const text = JSON.parse(bodyOf('discord', Array(10).fill({ text: 'y'.repeat(300) }), 3, '')).content as string
    expect([text.startsWith('3 older alerts were dropped'), text.length < 2_000]).toEqual([true, true])
  })
})

describe('Outbox', () => {
  it('remembers fills, place and alerts in its file', () => {
    const folder = scratch()
    const file = join(folder.path, 'state.sqlite')
    const first = new Outbox(file)
    expect([first.height, first.has(fillOf(1))]).toEqual([null, false])
    first.store(['SOL 1'], 1_000, { text: 'one' })
    first.height = 7
    first.close()
    const second = new Outbox(file)
    expect([second.height, second.has(fillOf(1)), second.has(fillOf(2)), second.first(9)]).toEqual([
      7,
      true,
      false,
      [{ id: 1, alert: { text: 'one' } }],
    ])
    second.close()
    folder.remove()
  })

  it('keeps the newest alerts and counts the others, and forgets fills after an hour', () => {
    const outbox = new Outbox(':memory:', 2)
    for (let at = 1; at <= 5; at++) outbox.store([`SOL ${at}`], 1_000 * at, { text: `${at}` })
    expect([outbox.first(9).map(({ alert }) => alert.text), outbox.dropped]).toEqual([['4', '5'], 3])
    outbox.store([], 3_602_500, null)
    expect([1, 2, 3].map((tid) => outbox.has(fillOf(tid)))).toEqual([false, false, true])
  })
})

describe('Delivery', () => {
  const accepted: Reply = { isAccepted: true, problem: '', retryAfterMs: 0 }

  it('delivers every alert once and in order, whatever the webhook does', async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('alert' as const), count: fc.integer({ min: 1, max: 15 }) }),
      fc.record({ type: fc.constant('step' as const), reply: fc.constantFrom(true, false) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const outbox = new Outbox(':memory:')
        const received: string[] = []
        let isUp = true
        const post = async (body: string): Promise<Reply> => {
          const { alerts } = JSON.parse(body) as { alerts: Alert[] }
          if (!isUp) return { ...accepted, isAccepted: false, problem: 'HTTP 500' }
          received.push(...alerts.map(({ text }) => text))
          return accepted
        }
        const delivery = new Delivery(outbox, { url: '', format: 'json' }, post, () => {})
        let sent = 0
        for (const each of steps) {
          if (each.type === 'alert') for (let i = 0; i < each.count; i++) outbox.store([], 0, { text: `${sent++}` })
          else {
            isUp = each.reply
            expect(await delivery.step()).toBeGreaterThanOrEqual(250)
          }
        }
        isUp = true
        while (outbox.first(1).length > 0) await delivery.step()
        expect(received).toEqual(Array.from({ length: sent }, (_, at) => `${at}`))
        outbox.close()
      }),
      { numRuns: 50 },
    )
  })

  it('waits longer after each failure, as long as the service asks, and at most a minute by itself', async () => {
    const outbox = new Outbox(':memory:')
    outbox.store([], 0, { text: 'one' })
    const replies = [0, 0, 9_000, 0, 0, 0, 0, 0].map((retryAfterMs) => ({
      isAccepted: false,
      problem: '',
      retryAfterMs,
    }))
    const next: Reply[] = [...replies, accepted, accepted]
    const delivery = new Delivery(
      outbox,
      { url: '', format: 'json' },
      async () => next.shift()!,
      () => {},
    )
    const waits: number[] = []
    for (let at = 0; at < 9; at++) waits.push(await delivery.step())
    expect(waits).toEqual([1_000, 2_000, 9_000, 8_000, 16_000, 32_000, 60_000, 60_000, 1_000])
    expect(await delivery.step()).toBe(250)
  })

  it('tells the count of dropped alerts once it is accepted', async () => {
    const outbox = new Outbox(':memory:', 1)
    for (const text of ['one', 'two', 'three']) outbox.store([], 0, { text })
    const bodies: { dropped: number }[] = []
    const post = async (body: string) => {
      bodies.push(JSON.parse(body))
      return bodies.length === 1 ? { ...accepted, isAccepted: false } : accepted
    }
    const delivery = new Delivery(outbox, { url: '', format: 'json' }, post, () => {})
    await delivery.step()
    outbox.store([], 0, { text: 'four' })
    await delivery.step()
    outbox.store([], 0, { text: 'five' })
    await delivery.step()
    expect(bodies.map(({ dropped }) => dropped)).toEqual([2, 3, 0])
  })

  it('reads the reply of a server, and never shows the URL', async () => {
    const replies: [status: number, headers: Record<string, string>][] = [
      [204, {}],
      [429, { 'retry-after': '2' }],
      [302, { location: '/elsewhere' }],
    ]
    const server = createServer((_, response) => response.writeHead(...replies.shift()!).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`
    const read: Reply[] = []
    for (let at = 0; at < 3; at++) read.push(await postTo(url, '{}'))
    server.close()
    server.closeAllConnections()
    read.push(await postTo(url, '{}'))
    expect(read).toEqual([
      { isAccepted: true, problem: 'HTTP 204', retryAfterMs: 0 },
      { isAccepted: false, problem: 'HTTP 429', retryAfterMs: 2_000 },
      { isAccepted: false, problem: 'HTTP 302', retryAfterMs: 0 },
      { isAccepted: false, problem: expect.stringMatching(/^[A-Z_]+$/), retryAfterMs: 0 },
    ])
  })
})
