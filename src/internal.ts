// Service binding through which Durable Objects call the gateway. No other caller can reach it.

import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Identity } from './accounts/identity.ts'
import { admit, withDataAccess } from './accounts/key-record.ts'
import { keyFromD1 } from './accounts/key-records.store.ts'
import { storeRefusals } from './accounts/refusals.store.ts'
import type { RefusalBatch } from './accounts/refused-calls.ts'
import type { Purchase } from './billing/checkout/purchase.ts'
import type { BookUnclear, SettledPayment } from './billing/x402/booking.ts'
import { countedStores } from './core/counted-stores.client.ts'
import type { Failure } from './core/failure.ts'
import type { KeyHash } from './core/ids.ts'
import type { Result } from './core/result.ts'
import type { WaitUntil } from './core/wait-until.ts'
import { meteredCall } from './http/metered.route.ts'
import { storeUsage } from './http/platform/usage-copy.store.ts'
import type { AlertMail, AlertMailer } from './metering/alerts/alerts-api.ts'
import type { TopUpAnswer, TopUpGateway } from './metering/top-up-watch.ts'
import type { UsageRow, UsageSink } from './metering/usage.ts'
import type { Delivery } from './metering/webhooks/webhook-api.ts'
import type { SecretSealer } from './metering/webhooks/webhook-secrets.client.ts'
import { SURFACES } from './monitor/request-counts.ts'
import { seal, unseal } from './pipelines/sealing.client.ts'
import type { HistoryResponse } from './relay/events/first-frames.ts'
import type { KeyService } from './relay/graphql/graphql-sockets.client.ts'
import type { GatewayInternal } from './relay/post.client.ts'
import type { Caller, CallerDirectory } from './relay/sockets/callers.client.ts'
import { servicesOf } from './services.ts'

/** Identity under which streams read upstream data. Each source divides its budget fairly between accounts. */
const STREAM_IDENTITY = { account: '' }

const POST = SURFACES.indexOf('ws')

export class Internal
  extends WorkerEntrypoint<Cloudflare.Env>
  implements UsageSink, CallerDirectory, GatewayInternal, KeyService, SecretSealer, TopUpGateway, AlertMailer
{
  readonly #waitUntil: WaitUntil = (work) => this.ctx.waitUntil(work)

  constructor(ctx: ExecutionContext, env: Cloudflare.Env) {
    super(ctx, countedStores(env))
  }

  /** Copies a meter's usage rows to D1, which only this Worker can access. */
  async storeUsage(rows: readonly UsageRow[]): Promise<void> {
    await storeUsage(this.env.USAGE, rows)
  }

  /** Stores refusals reported by relays. */
  async storeRefusals(batch: RefusalBatch): Promise<void> {
    await storeRefusals(this.env.USAGE, batch, Date.now())
  }

  /** Books a payment that the chain has taken. */
  async bookPayment(payment: SettledPayment): Promise<Purchase> {
    return (await this.#wallets()).book(payment)
  }

  /** Records a payment whose outcome the operator must find out. */
  async bookUnclearPayment(payment: Parameters<BookUnclear>[0]): Promise<void> {
    return (await this.#wallets()).bookUnclear(payment)
  }

  /** Continues the automatic top-ups of an account whose meter asks. */
  async topUp(account: string, isLow: boolean): Promise<TopUpAnswer> {
    const { checkoutFor } = await import('./http/platform/checkout.client.ts')
    const { autoTopUps } = checkoutFor(servicesOf(this.env, null))
    return autoTopUps === null ? { state: 'off' } : autoTopUps.advance(account, isLow)
  }

  /** Loaded on demand, because the schemas of accounts and keys take time. */
  async #wallets() {
    const { walletsOf } = await import('./http/x402/wallet-accounts.client.ts')
    return walletsOf(servicesOf(this.env, null))
  }

  /** Re-authenticates the owner of a key after its account or key changed. */
  async caller(keyHash: KeyHash, product: 'stream' | 'graphql' = 'stream', isToken = false): Promise<Caller> {
    const found = await keyFromD1(this.env.ACCOUNTS, keyHash)
    const record = found && isToken ? withDataAccess(found) : found
    // The client's address was checked when the socket opened, so it is not checked again.
    const anywhere = record === null ? null : { ...record, ranges: null }
    const admitted = anywhere && admit(anywhere, { product, kind: 'api' }, Date.now(), null)
    if (admitted?.ok) return { ok: true, identity: admitted.value }
    const kind = admitted?.error.kind
    if (kind === 'key_replaced') return { ok: false, why: 'revoked', replaced: true }
    return { ok: false, why: kind === 'key_expired' ? 'expired' : kind === 'not_entitled' ? 'not entitled' : 'revoked' }
  }

  /** Authenticates the key sent over a GraphQL socket. */
  async enter(key: string, address: string | null): Promise<Result<Identity, Failure>> {
    return servicesOf(this.env, null).enterGraphql(key, address, this.#waitUntil)
  }

  /** Decrypts the secret of a pipeline destination or webhook for the object that delivers there. */
  async openSecret(id: string, sealed: string): Promise<string | null> {
    return unseal(sealed, id, this.env.KEY_SECRET ?? '')
  }

  async sealSecret(id: string, secret: string): Promise<string> {
    return seal(secret, id, this.env.KEY_SECRET ?? '')
  }

  /** Sends the e-mail of an alert. Never rejects because of the mail server. */
  async sendAlertMail(mail: AlertMail): Promise<Delivery> {
    const { alertMailsOf } = await import('./http/mail/alert-mails.client.ts')
    return alertMailsOf(this.env, servicesOf(this.env, null).settings).send(mail)
  }

  /** Serves an info request from an authenticated socket at its normal price. */
  async info(identity: Identity, text: string) {
    const { info, access, countRequest, now } = servicesOf(this.env, null)
    const begunMs = now()
    const { status, body, headers } = await info.handle(meteredCall(access, 'info', identity, this.#waitUntil), text)
    countRequest(POST, status, begunMs, this.ctx)
    return { status, body, ignored: headers['x-ignored-fields'], nextCursor: headers['x-next-cursor'] }
  }

  /** Serves a read for a stream without charge; the stream's per-minute price covers it. */
  async read(type: string, request: Readonly<Record<string, unknown>>): Promise<HistoryResponse | null> {
    const { info, requestId } = servicesOf(this.env, null)
    const context = { identity: STREAM_IDENTITY, requestId: requestId(), waitUntil: this.#waitUntil }
    return info.read(JSON.stringify({ ...request, type }), context)
  }
}
