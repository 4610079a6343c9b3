// The simulated exchange and its gateway, shared by all suites of a test file.

import { afterAll, beforeAll } from 'vitest'
import { type Exchange, startExchange, startWorld } from '../../kit/gateway.ts'

/** Filled before the first test. */
export let exchange: Exchange

beforeAll(async () => {
  exchange = await startExchange({ gateway: (node) => startWorld({ node }) })
})
afterAll(() => exchange?.stop())
