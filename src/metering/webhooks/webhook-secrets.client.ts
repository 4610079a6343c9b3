// The secret of an account's webhook in its meter. Invariants: it is sealed wherever it is stored, and the gateway alone can
// open it; opened, it is in memory, for the text that it was sealed in.

import { orReject } from '../../core/deadline.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import type { DrawnSecret, WebhookTarget } from './webhook.store.ts'
import { secretText } from './webhook.ts'

/** What the gateway does for meters: it alone has KEY_SECRET. */
export interface SecretSealer {
  /** Null where it cannot be opened. */
  openSecret(id: string, sealed: string): Promise<string | null>
  sealSecret(id: string, secret: string): Promise<string>
}

const PATIENCE_MS = 5_000
const AWAY = 'the gateway, which opens the secret, did not answer'
const LOST = 'the secret cannot be opened, because the operator changed KEY_SECRET: draw another one (new_secret)'

const idOf = (account: AccountId) => `webhook:${account}`

export class WebhookSecrets {
  readonly #sealer: () => SecretSealer
  #opened: DrawnSecret | null = null

  constructor(sealer: () => SecretSealer) {
    this.#sealer = sealer
  }

  /** Rejects where the gateway cannot seal it. */
  async draw(account: AccountId): Promise<DrawnSecret> {
    const secret = secretText(crypto.getRandomValues(new Uint8Array(32)))
    return { secret, sealed: await this.#sealer().sealSecret(idOf(account), secret) }
  }

  /** The error says why events cannot be signed now. */
  async opened({ account, secret: sealed }: WebhookTarget): Promise<Result<string, string>> {
    if (this.#opened?.sealed === sealed) return ok(this.#opened.secret)
    try {
      const asked = this.#sealer().openSecret(idOf(account), sealed)
      const secret = await orReject(asked, PATIENCE_MS, after)
      if (secret === null) return err(LOST)
      this.#opened = { sealed, secret }
      return ok(secret)
    } catch {
      return err(AWAY)
    }
  }
}
