// Secret of an account's webhook in its meter. Invariants: it is stored encrypted, and only the gateway can decrypt it;
// the decrypted secret is cached in memory under its ciphertext.

import { orReject } from '../../core/deadline.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import type { NewSecret, WebhookTarget } from './webhook.store.ts'
import { secretText } from './webhook.ts'

/** Gateway methods for meters; only the gateway has KEY_SECRET. */
export interface SecretSealer {
  /** Null if it cannot be decrypted. */
  openSecret(id: string, sealed: string): Promise<string | null>
  sealSecret(id: string, secret: string): Promise<string>
}

const TIMEOUT_MS = 5_000
const GATEWAY_UNAVAILABLE = 'the gateway, which decrypts the secret, did not respond'
const SECRET_LOST =
  'the secret cannot be decrypted because the operator changed KEY_SECRET; generate a new one (new_secret)'

const idOf = (account: AccountId) => `webhook:${account}`

export class WebhookSecrets {
  readonly #sealer: () => SecretSealer
  #opened: NewSecret | null = null

  constructor(sealer: () => SecretSealer) {
    this.#sealer = sealer
  }

  /** Rejects if the gateway cannot encrypt it. */
  async generate(account: AccountId): Promise<NewSecret> {
    const secret = secretText(crypto.getRandomValues(new Uint8Array(32)))
    return { secret, sealed: await this.#sealer().sealSecret(idOf(account), secret) }
  }

  /** The error says why events cannot be signed now. */
  async open({ account, secret: sealed }: WebhookTarget): Promise<Result<string, string>> {
    if (this.#opened?.sealed === sealed) return ok(this.#opened.secret)
    try {
      const request = this.#sealer().openSecret(idOf(account), sealed)
      const secret = await orReject(request, TIMEOUT_MS, after)
      if (secret === null) return err(SECRET_LOST)
      this.#opened = { sealed, secret }
      return ok(secret)
    } catch {
      return err(GATEWAY_UNAVAILABLE)
    }
  }
}
