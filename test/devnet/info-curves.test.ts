// Answers that are functions of time: candles.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { answerInfo } from '../../src/devnet/info/info.ts'
import { Tail } from '../../src/devnet/info/past.ts'

describe('a tail', () => {
  it('is the end of what was added', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 12 }), (items, bound) => {
        const tail = new Tail<number>(bound)
        for (const item of items) tail.push(item)
        expect(tail.toArray()).toEqual(items.slice(-bound))
        expect([tail.last(), tail.length]).toEqual([items.at(-1), Math.min(items.length, bound)])
      }),
    )
  })
})

describe('candles', () => {
  it('are answered where they overlap the window, and page by the last end', () => {
    const engine = createEngine(5)
    // Four minutes and more, in blocks half a second apart.
    for (let i = 1; i <= 600; i++) engine.step(BigInt(i) * 500_000_000n + 1_770_000_000_000_000_000n)
    // biome-ignore lint/suspicious/noExplicitAny: looked at field by field
    const ask = (startTime: number, endTime?: number): any[] => {
      const req = { coin: 'BTC', interval: '1m', startTime, endTime } as const
      return (answerInfo(engine, { type: 'candleSnapshot', req }) as { body: object[] }).body
    }
    const all = ask(0)
    expect(all.length).toBeGreaterThan(3)
    expect(Object.keys(all[0]!)).toEqual(['t', 'T', 's', 'i', 'o', 'c', 'h', 'l', 'v', 'n'])
    expect(ask(all[1]!.T, all[2]!.t)).toEqual(all.slice(1, 3))
    expect(ask(all[1]!.T + 1)).toEqual(all.slice(2))
    const req = { coin: 'NOPE', interval: '1m', startTime: 0 } as const
    expect(answerInfo(engine, { type: 'candleSnapshot', req })).toEqual({ status: 500, body: null })
  })
})
