// Accounts of wallets: their payments in the books, and their keys. Invariant: a wallet has at most one active key of
// each kind that was issued here, and its rotations.

import { AccountStore } from '../../accounts/accounts.store.ts'
import type { Identity } from '../../accounts/identity.ts'
import type { InvoiceTerms } from '../../billing/checkout/invoice-terms.ts'
import { bookingOf } from '../../billing/x402/booking.client.ts'
import type { Book, BookUnclear, IssuedKey, IssueKey } from '../../billing/x402/booking.ts'
import type { PaymentNetwork } from '../../billing/x402/settings.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { accountsOf } from '../platform/account-service.client.ts'
import { KeyService } from '../platform/key-service.client.ts'
import type { Accounts, Keys } from '../platform/platform-api.ts'

export interface WalletPorts {
  readonly db: D1Database
  readonly accounts: Pick<Accounts, 'ensurePrepaid' | 'grant'>
  readonly keys: Pick<Keys, 'createOwn' | 'revoke' | 'rotate'>
  readonly networks: readonly Pick<PaymentNetwork, 'network' | 'plan'>[]
  readonly terms: InvoiceTerms | null
  /** Location hint of a new account's meter; null if unknown. */
  visitorsRegion(): string | null
  nowMs(): number
}

export interface WalletAccounts {
  readonly book: Book
  readonly bookUnclear: BookUnclear
  readonly issueKey: IssueKey
}

const LABELS: Readonly<Record<Identity['kind'], string>> = { api: 'x402', service: 'x402-service' }
/** A payment is booked even if its network was removed from the settings. */
const REMOVED = { plan: 'entry' }
/** Concurrent requests of a wallet may rotate its key at the same time. */
const TRIES = 3

export function walletAccountsOf(ports: WalletPorts): WalletAccounts {
  const { accounts, keys, networks, nowMs } = ports
  const store = new AccountStore(ports.db)

  /** Null: a concurrent request created it. */
  async function firstKey(account: AccountId, kind: Identity['kind']): Promise<IssuedKey | null> {
    const label = LABELS[kind]
    const number = await store.countRequestedBy(account, label)
    // Owners cannot send an idempotency key with a space.
    const made = await keys.createOwn({ account, label, kind, request: `${label} ${number}` })
    if (!made.ok) throw new Error(`a wallet got no key (${made.error.kind})`)
    return 'key' in made.value ? made.value : null
  }

  async function rotatedKey(account: AccountId, kind: Identity['kind']): Promise<IssuedKey> {
    for (let tries = 0; tries < TRIES; tries++) {
      const hash = await store.keyRequestedBy(account, LABELS[kind], nowMs())
      if (hash === null) {
        const made = await firstKey(account, kind)
        if (made !== null) return made
        continue
      }
      const rotated = await keys.rotate({ name: hash, account }, { id: null, graceMs: 0 })
      if (rotated.ok && 'key' in rotated.value) return rotated.value
    }
    throw new Error('the key of a wallet keeps changing')
  }

  return {
    ...bookingOf({
      db: ports.db,
      terms: ports.terms,
      openAccount: ({ account, reference }) => {
        const { plan } = networks.find(({ network }) => reference.startsWith(`${network}:`)) ?? networks[0] ?? REMOVED
        return accounts.ensurePrepaid(account, plan, ports.visitorsRegion())
      },
      grant: (...grant) => accounts.grant(...grant),
      revokeKey: async (account, name) => void (await keys.revoke({ name, account })),
      report: (error) => logEvent('payment_failed', { error }),
      nowMs,
    }),
    issueKey: async (account, how, kind) => {
      if (how === 'rotate') return rotatedKey(account, kind)
      return (await store.keyRequestedBy(account, LABELS[kind], nowMs())) === null ? firstKey(account, kind) : null
    },
  }
}

interface WalletServices {
  readonly env: Pick<Cloudflare.Env, 'ACCOUNTS' | 'KEYS' | 'USAGE'> & { readonly KEY_SECRET?: string }
  readonly settings: { readonly X402: WalletPorts['networks']; readonly INVOICE: WalletPorts['terms'] }
  callersMeter(account: AccountId): AccountMeterApi
  visitorsRegion(): string | null
  now(): number
}

/** The same from the services of the gateway. */
export function walletsOf({ env, settings, callersMeter, visitorsRegion, now: nowMs }: WalletServices): WalletAccounts {
  const { ACCOUNTS: db, KEYS: kv, USAGE: usage, KEY_SECRET: keySecret = '' } = env
  const ports = { db, kv, usage, keySecret, meterOf: callersMeter, nowMs }
  const services = { accounts: accountsOf(ports), keys: new KeyService(ports) }
  const { X402: networks, INVOICE: terms } = settings
  return walletAccountsOf({ db, ...services, networks, terms, visitorsRegion, nowMs })
}
