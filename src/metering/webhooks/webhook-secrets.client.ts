// The secret of an account's webhook in its meter. Invariants: it is sealed wherever it is stored, and the gateway alone can
// open it; opened, it is in memory, for the text that it was sealed in.

import { orReject } from '../../core/deadline.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import type { NewSecret, WebhookTarget } from './webhook.store.ts'
import { secretText } from './webhook.ts'

/** What the gateway does for meters: it alone has KEY_SECRET. */
export interface SecretSealer {
  /** Null where it cannot be opened. */
  openSecret(id: string, sealed: string): Promise<string | null>
  sealSecret(id: string, secret: string): Promise<string>
}

const TIMEOUT_MS = 5_000
const GATEWAY_UNAVAILABLE = 'the gateway, which opens the secret, did not answer'
const SECRET_LOST =
  'the secret cannot be opened, because the operator changed KEY_SECRET: draw another one (new_secret)'

const idOf = (account: AccountId) => `webhook:${account}`

export class WebhookSecrets {
  readonly #sealer: () => SecretSealer
  #opened: NewSecret | null = null

  constructor(sealer: () => SecretSealer) {
    this.#sealer = sealer
  }

  /** Rejects where the gateway cannot seal it. */
  async generate(account: AccountId): Promise<NewSecret> {
    const secret = secretText(crypto.getRandomValues(new Uint8Array(32)))
    return { secret, sealed: await this.#sealer().sealSecret(idOf(account), secret) }
  }

  /** The error says why events cannot be signed now. */
  async open({ account, secret: sealed }: WebhookTarget): Promise<Result<string, string>> {
    if (this.#opened?.sealed === sealed) return ok(this.#opened.secret)
    try {
      const asked = this.#sealer().openSecret(idOf(account), sealed)
      const secret = await orReject(asked, TIMEOUT_MS, after)
      if (secret === null) return err(SECRET_LOST)
      this.#opened = { sealed, secret }
      return ok(secret)
    } catch {
      return err(GATEWAY_UNAVAILABLE)
    }
  }
}
