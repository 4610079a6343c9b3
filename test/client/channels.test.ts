// The client's hand-written channel facts match the catalogue.

import { describe, expect, it, test } from 'vitest'
import * as z from 'zod'
import { canResume, factsOf, namesOfEvents, typeOfFrame } from '../../src/client/channels.ts'
import { LIMITS } from '../../src/client/connection-options.ts'
import { bodyKey, type SubscriptionBody } from '../../src/client/subscription.ts'
import { ECHO_CHARS } from '../../src/protocol/relay/frames.ts'
import { canReplay, echoOf } from '../../src/relay/channel.ts'
import { CHANNELS, readBody } from '../../src/relay/channels/catalogue.ts'

describe.each(CHANNELS.map((channel) => [channel.type, channel] as const))('%s', (type, channel) => {
  const sent = { type, ...channel.example.request } as SubscriptionBody
  const read = readBody(sent)
  if (!read.ok) throw new Error(`${read.error.path}: ${read.error.message}`)

  it('has its source, frame names and replay support', () => {
    const facts = factsOf(type)!
    expect(facts.source).toBe(channel.source)
    expect(facts.isJoint ?? false).toBe('isJoint' in channel && channel.isJoint)
    expect(canResume(type)).toBe(channel.source === 'events' && canReplay(channel))
    const frame: z.ZodType = channel.frame
    const named = (frame instanceof z.ZodUnion ? frame.options : [frame]) as z.ZodObject<{
      channel: z.ZodLiteral<string>
    }>[]
    for (const { shape } of named) expect(typeOfFrame(shape.channel.value)).toBe(type)
    expect(facts.frameNames ?? [type]).toEqual(named.map(({ shape }) => shape.channel.value))
  })

  it("is identified by the gateway's acknowledgement, and indexed under its names", () => {
    const shouted = JSON.parse(
      JSON.stringify(sent).replace(/0x[0-9a-f]{40}/g, (address) => `0x${address.slice(2).toUpperCase()}`),
    ) as SubscriptionBody
    for (const body of [sent, shouted]) {
      const parsed = readBody(body)
      if (!parsed.ok) throw new Error(parsed.error.message)
      expect(bodyKey(echoOf(body, parsed.value) as SubscriptionBody)).toBe(bodyKey(sent))
    }
    if (read.value.source === 'events')
      expect(namesOfEvents(JSON.parse(bodyKey(sent)))).toEqual(read.value.channel.names(read.value.body))
  })
})

test("echoes bodies up to the gateway's length limit", () => {
  expect(LIMITS.echoChars).toBe(ECHO_CHARS)
})

test('knows exactly the channels of the catalogue', () => {
  expect(CHANNELS.map(({ type }) => type).filter((type) => !factsOf(type))).toEqual([])
  for (const name of ['constructor', 'toString', '__proto__', 'later']) {
    expect(factsOf(name)).toBeUndefined()
    expect(typeOfFrame(name)).toBeUndefined()
  }
})
