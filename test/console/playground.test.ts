// The documents that the GraphQL page starts with.

import { parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { firstSubscription } from '../../src/console/playground/selection.ts'
import { channelPrices } from '../../src/http/docs/site/definition-pages.ts'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { graphqlSchema } from '../../src/relay/graphql/schema.ts'

it('has a valid document and a price for each subscription', () => {
  const schema = graphqlSchema()
  const names = Object.keys(schema.getSubscriptionType()!.getFields())
  expect(Object.keys(channelPrices(CHANNELS))).toEqual(names)
  for (const name of names) {
    const text = firstSubscription(schema, name)!
    expect([name, validate(schema, parse(text))]).toEqual([name, []])
  }
  expect(firstSubscription(schema, 'trades')).toMatch(/^subscription {\n {2}trades\(coin: "BTC"\) {\n {4}data {/)
  expect(firstSubscription(schema, 'constructor')).toBeNull()
})
