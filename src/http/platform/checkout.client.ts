// The checkout of the gateway, for endpoints and for the meters that ask for automatic top-ups.

import {
  type CheckoutEnv,
  type CheckoutService,
  type CheckoutSettings,
  checkoutOf,
} from '../../billing/checkout/checkout-service.client.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import type { TopUpMeterApi } from '../../metering/top-up-watch.ts'
import { accountsOf } from './account-service.client.ts'

interface CheckoutServices {
  readonly env: Pick<Cloudflare.Env, 'ACCOUNTS' | 'KEYS'> & CheckoutEnv
  readonly settings: CheckoutSettings
  callersMeter(account: AccountId): AccountMeterApi & TopUpMeterApi
  now(): number
}

export function checkoutFor({ env, settings, callersMeter, now: nowMs }: CheckoutServices): CheckoutService {
  const { ACCOUNTS: db, KEYS: kv } = env
  const accounts = accountsOf({ db, kv, meterOf: callersMeter, nowMs })
  return checkoutOf(env, settings, {
    grant: (...grant) => accounts.grant(...grant),
    meterOf: callersMeter,
    report: (error) => logEvent('checkout_failed', { error }),
    nowMs,
  })
}
