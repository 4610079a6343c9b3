// The one simulated exchange, with a gateway before it, that all suites of a test file share.

import { afterAll, beforeAll } from 'vitest'
import { type Exchange, startExchange, startWorld } from '../../kit/gateway.ts'

/** Filled before the first test. */
export let exchange: Exchange

beforeAll(async () => {
  exchange = await startExchange({ gateway: (node) => startWorld({ node }) })
})
afterAll(() => exchange?.stop())
