// Caller identities for tests.

import type { Identity } from '../../src/accounts/identity.ts'
import { keyHashOf } from '../../src/core/ids.ts'

export function identityOf(plan: string, products: Identity['products'], account = 'a', key = 'k'): Identity {
  return { v: 1, account, keyHash: keyHashOf(key), kind: 'api', plan, products }
}
