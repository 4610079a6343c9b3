// Answers as they were recorded become frames that fit what is published.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { channelOf } from '../../../src/relay/channels/catalogue.ts'
import { ANSWERS, WIRES } from '../../fixtures/wire.ts'
import { StatesWorld } from './states-world.ts'

const USER = `0x${'a'.repeat(40)}`
/** Channels by the question that they are made of. */
const CHANNEL_OF: Readonly<Record<string, { readonly type: string; readonly [field: string]: unknown }>> = {
  clearinghouseState: { type: 'clearinghouseState', user: USER },
  frontendOpenOrders: { type: 'openOrders', user: USER },
  spotClearinghouseState: { type: 'spotState', user: USER },
  activeAssetData: { type: 'activeAssetData', user: USER, coin: 'BTC' },
  historicalOrders: { type: 'userHistoricalOrders', user: USER },
}

describe.each(WIRES)('answers of the exchange, %s', (_, wire, isAbsent) => {
  // WS-141, WS-142
  it.skipIf(isAbsent).each(ANSWERS.filter(([type]) => type in CHANNEL_OF))('%s of %s', async (type, path) => {
    const world = new StatesWorld()
    world.answer = () => JSON.parse(readFileSync(join(wire, path), 'utf8'))
    const body = CHANNEL_OF[type]!
    const { frames } = await world.subscribe(body)
    expect(frames).toHaveLength(1)
    expect(channelOf(body.type)!.frame.safeParse(frames[0]).error).toBe(undefined)
  })
})
