// The simulated exchange and its gateway, shared by all suites of a test file.

import { afterAll, beforeAll } from 'vitest'
import { type Exchange, startExchange, startWorld } from '../../kit/gateway.ts'

/** Filled before the first test. */
export let exchange: Exchange

beforeAll(async () => {
  exchange = await startExchange({
    gateway: (node) => {
      // Public clients ask for everything at once, and the simulated exchange shares the cores with other tests.
      const source = { name: 'node', url: `${node}/info`, timeoutMs: 10_000 }
      return startWorld({ vars: { UPSTREAMS: JSON.stringify([source]) } })
    },
  })
})
afterAll(() => exchange?.stop())
