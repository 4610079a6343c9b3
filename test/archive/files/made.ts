// Blocks of few users, builders and coins, as fast-check makes them, and their files in memory.

import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { SourceFile } from '../../../src/archive/files/page-source.ts'
import type { BlockEvents } from '../../../src/archive/files/rows.ts'
import type { LedgerEvent, UserFill } from '../../../src/protocol/feed/block.ts'
import { fillWith } from '../../kit/fills.ts'

export const USERS = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`)
const COINS = ['BTC', '@107', 'flx:"\t"']

export const pack = async (text: string) => new Uint8Array(gzipSync(text))
export const unpack = async (body: Uint8Array) => gunzipSync(body).toString()

export const fillOf = (user: string, coin: string, tid: number, builder?: string): UserFill => {
  return [
    user,
    { ...fillWith({ coin, sz: '0.5', time: tid, oid: tid, tid }), ...(builder !== undefined && { builder }) },
  ]
}

const anyFill = fc
  .tuple(
    fc.constantFrom(...USERS),
    fc.constantFrom(...COINS),
    fc.nat(),
    fc.option(fc.constantFrom(USERS[0]!, 'no address'), { nil: undefined }),
  )
  .map((parts): UserFill => fillOf(...parts))
const anyLedger = fc
  .array(fc.constantFrom(...USERS), { maxLength: 3 })
  .map((users): LedgerEvent => ({ users, time: 7, hash: '0x0', delta: { type: 'deposit', usdc: '1\n\t' } }))

const anyPayments = fc
  .tuple(
    fc.constantFrom(...USERS),
    fc.nat(99),
    fc.array(fc.constantFrom('BTC', 'xyz:GOLD'), { minLength: 1, maxLength: 3 }),
  )
  .map(([user, time, coins]) => `${user} ${time}${coins.map((coin) => ` ${coin} -0.5 2.0 0.1`).join('')}`)

export const anyBlocks = (most = 40) =>
  fc
    .array(
      fc.record({
        fills: fc.array(anyFill, { maxLength: 4 }),
        ledger: fc.array(anyLedger, { maxLength: 2 }),
        payments: fc.array(anyPayments, { maxLength: 3 }),
        ms: fc.nat(9),
      }),
      { minLength: 1, maxLength: most },
    )
    .map((blocks) => blocks.map(({ ms, ...block }, at): BlockEvents => ({ height: at, time: 100 * at + ms, ...block })))

/** Objects whose pages follow one another. */
export function fileOf(objects: readonly Uint8Array[]): SourceFile {
  return {
    objects: objects.map((object, at) => ({
      key: `object ${at}`,
      bytes: object.length,
      read: async (offset, length) => new Uint8Array(object.slice(offset, offset + length)),
    })),
  }
}

export const bytesOf = (pages: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pages))
