// Addresses that get alerts, and the mails to them. Invariants: an address is stored encrypted, and leaves the gateway only
// to the mail API and to the account's own managers; a link names the account and the address, and its token is signed, so
// that the gateway rejects guesses by itself.

import { sha256 } from '../../accounts/digest.client.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import { isValidSignature, signatureOf } from '../../core/signature.client.ts'
import { AlertText } from '../../metering/alerts/alert-event.ts'
import type { AlertMail, NewAddress } from '../../metering/alerts/alerts-api.ts'
import type { Delivery } from '../../metering/webhooks/webhook-api.ts'
import { seal, unseal } from '../../pipelines/sealing.client.ts'
import { alertMail, confirmationMail } from './alert-mail.ts'
import { type Mailer, type MailerEnv, type MailerSettings, mailerOf } from './mailer.client.ts'

/** 22 base58 characters are 128 bits. */
const RANDOM_LENGTH = 22
const CONFIRM = 'weir/alert-confirm/1'
const UNSUBSCRIBE = 'weir/alert-unsubscribe/1'
const DIGEST = 'weir/alert-address/1'

export class AlertMails {
  readonly #mailer: Mailer | null
  readonly #keySecret: string
  readonly #publicUrl: string

  /** `mailer`: null if the gateway sends no e-mails. */
  constructor(mailer: Mailer | null, keySecret: string, publicUrl: string) {
    this.#mailer = mailer
    this.#keySecret = keySecret
    this.#publicUrl = publicUrl
  }

  get isOn(): boolean {
    return this.#mailer !== null && this.#keySecret !== ''
  }

  async newToken(account: AccountId, id: string): Promise<{ readonly token: string; readonly hash: string }> {
    const random = randomBase58(RANDOM_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
    const token = `${random}${await signatureOf(`${account} ${id} ${random}`, await this.#secretFor(CONFIRM))}`
    return { token, hash: await sha256(token) }
  }

  async newAddress(
    account: AccountId,
    address: string,
    base: string,
  ): Promise<{ readonly stored: NewAddress; readonly token: string }> {
    const id = `adr_${crypto.randomUUID()}`
    const [sealed, digest, { token, hash }] = await Promise.all([
      seal(address, sealedId(account, id), this.#keySecret),
      signatureOf(`${account} ${base}`, await this.#secretFor(DIGEST)),
      this.newToken(account, id),
    ])
    return { stored: { id, sealed, digest, token: hash }, token }
  }

  open(account: AccountId, id: string, sealed: string): Promise<string | null> {
    return this.#keySecret === '' ? Promise.resolve(null) : unseal(sealed, sealedId(account, id), this.#keySecret)
  }

  async confirm(account: AccountId, id: string, to: string, token: string): Promise<boolean> {
    const links = await this.#links(account, id)
    const mail = confirmationMail(to, account, this.#url('confirm', account, id, token), links)
    return this.#mailer === null ? false : delivered(this.#mailer(mail))
  }

  async send({ account, address, sealed, body }: AlertMail): Promise<Delivery> {
    if (this.#mailer === null) return { delivered: false, answer: 'this gateway sends no e-mails' }
    const to = await this.open(account, address, sealed)
    if (to === null) return { delivered: false, answer: 'the address cannot be decrypted; add it again' }
    const alert = AlertText.parse(JSON.parse(body))
    const mail = alertMail(to, alert, `${this.#publicUrl}/console?page=alerts`, await this.#links(account, address))
    return (await delivered(this.#mailer(mail)))
      ? { delivered: true, answer: 'accepted by the mail server' }
      : { delivered: false, answer: 'the mail server did not accept it' }
  }

  /** Whether the gateway made the token for this address. Only the meter knows whether it was used or replaced. */
  isConfirmationToken(account: AccountId, id: string, token: string): Promise<boolean> {
    const signed = `${account} ${id} ${token.slice(0, RANDOM_LENGTH)}`
    return this.#isSigned(CONFIRM, signed, token.slice(RANDOM_LENGTH))
  }

  isUnsubscribeToken(account: AccountId, id: string, token: string): Promise<boolean> {
    return this.#isSigned(UNSUBSCRIBE, `${account} ${id}`, token)
  }

  async #links(account: AccountId, id: string) {
    const token = await signatureOf(`${account} ${id}`, await this.#secretFor(UNSUBSCRIBE))
    const unsubscribe = this.#url('unsubscribe', account, id, token)
    return { host: this.#publicUrl && new URL(this.#publicUrl).host, unsubscribe }
  }

  async #isSigned(purpose: string, signed: string, token: string): Promise<boolean> {
    return this.#keySecret !== '' && isValidSignature(token, signed, await this.#secretFor(purpose))
  }

  #secretFor(purpose: string): Promise<string> {
    return signatureOf(purpose, this.#keySecret)
  }

  /** Query strings reach no log. */
  #url(action: 'confirm' | 'unsubscribe', account: AccountId, id: string, token: string): string {
    return `${this.#publicUrl}/alerts/${action}?account=${account}&address=${id}&token=${token}`
  }
}

export function alertMailsOf(env: MailerEnv & { readonly KEY_SECRET?: string }, settings: MailerSettings): AlertMails {
  return new AlertMails(mailerOf(env, settings, 'alert_mail'), env.KEY_SECRET ?? '', settings.PUBLIC_URL)
}

const sealedId = (account: AccountId, id: string) => `alert address ${account} ${id}`

const delivered = (sending: Promise<void>) =>
  sending.then(
    () => true,
    (error) => {
      logEvent('alert_mail_undelivered', { error })
      return false
    },
  )
