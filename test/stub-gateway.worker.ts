// The gateway as called by the objects under test. A separate Worker without a build: it imports only types.

import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Identity } from '../src/accounts/identity.ts'
import type { SettledPayment } from '../src/billing/x402/booking.ts'
import type { KeyHash } from '../src/core/ids.ts'
import type { AlertMail, AlertMailer } from '../src/metering/alerts/alerts-api.ts'
import type { UsageRow, UsageSink } from '../src/metering/usage.ts'
import type { Delivery } from '../src/metering/webhooks/webhook-api.ts'
import type { SecretSealer } from '../src/metering/webhooks/webhook-secrets.client.ts'
import type { HistoryResponse } from '../src/relay/events/first-frames.ts'
import type { KeyService } from '../src/relay/graphql/graphql-sockets.client.ts'
import type { GatewayInternal } from '../src/relay/post.client.ts'
import type { Caller, CallerDirectory } from '../src/relay/sockets/callers.client.ts'

const reads = new Map<string, number>()
const booked = new Map<string, unknown[]>()
const mails = new Map<string, string[]>()

export class Internal
  extends WorkerEntrypoint
  implements UsageSink, CallerDirectory, GatewayInternal, KeyService, SecretSealer, AlertMailer
{
  async info(_: Identity, body: string): Promise<{ status: number; body: string }> {
    return { status: 200, body: JSON.stringify({ echo: JSON.parse(body) }) }
  }

  /** Past data: empty, up to the first block; plus a state: number of reads. */
  async read(type: string, request: object): Promise<HistoryResponse> {
    if (type === 'clearinghouseState') {
      const key = JSON.stringify(request)
      reads.set(key, (reads.get(key) ?? 0) + 1)
      return { body: JSON.stringify({ reads: reads.get(key) }) }
    }
    return { body: '[]', height: Number.MAX_SAFE_INTEGER }
  }

  async openSecret(id: string, sealed: string): Promise<string | null> {
    const head = `kept ${id} `
    return sealed.startsWith(head) ? atob(sealed.slice(head.length)) : null
  }

  async sealSecret(id: string, secret: string): Promise<string> {
    return `kept ${id} ${btoa(secret)}`
  }

  /** Mails to addresses that are sealed as `refused` are refused. */
  async sendAlertMail({ sealed, body }: AlertMail): Promise<Delivery> {
    if (sealed === 'refused') return { delivered: false, answer: 'refused' }
    mails.set(sealed, [...(mails.get(sealed) ?? []), body])
    return { delivered: true, answer: 'accepted' }
  }

  async mails(sealed: string): Promise<readonly string[]> {
    return mails.get(sealed) ?? []
  }

  /** Rows of the type `refused` are refused. */
  async storeUsage(rows: readonly UsageRow[]): Promise<void> {
    if (rows.some(({ type }) => type === 'refused')) throw new Error('refused')
  }

  async storeRefusals(): Promise<void> {}

  /** GraphQL keys are named like their accounts. */
  async enter(account: string): Promise<{ ok: true; value: Identity }> {
    const keyHash = `key of ${account}` as KeyHash
    return { ok: true, value: { v: 1, account, keyHash, kind: 'api', plan: 'entry', products: ['graphql'] } }
  }

  /** The first attempt for a call of the type `flaky` fails after it was booked. */
  async bookPayment(payment: SettledPayment): Promise<void> {
    const isNew = !booked.has(payment.reference)
    booked.set(payment.reference, [...(booked.get(payment.reference) ?? []), payment])
    if (isNew && payment.call?.type === 'flaky') throw new Error('flaky')
  }

  async bookUnclearPayment({ reference, note }: { reference: string; note: string }): Promise<void> {
    booked.set(reference, [...(booked.get(reference) ?? []), { note }])
  }

  /** What was booked under a reference, each time. */
  async booked(reference: string): Promise<readonly unknown[]> {
    return booked.get(reference) ?? []
  }

  async caller(keyHash: KeyHash): Promise<Caller> {
    if (keyHash.startsWith('replaced')) return { ok: false, why: 'revoked', replaced: true }
    if (keyHash.startsWith('expired')) return { ok: false, why: 'expired' }
    const who = { v: 1, account: '', keyHash, kind: 'api', plan: 'enterprise', products: ['stream'] } as const
    return { ok: true, identity: { ...who, products: [...who.products] } }
  }
}

export default { fetch: () => new Response('stub gateway') }
