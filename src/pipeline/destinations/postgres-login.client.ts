// How a client of PostgreSQL proves its password: by SCRAM-SHA-256, or in clear where the connection is encrypted.

import { cString, type Frame, password, saslFirst, textOf, wholeAt } from './postgres-wire.ts'

const OK = 0
const CLEAR = 3
const [SASL, SASL_GOES_ON, SASL_ENDS] = [10, 11, 12]
const MECHANISM = 'SCRAM-SHA-256'
/** A server that asks for more wants the client's time. */
const ROUNDS_MOST = 200_000

export class Login {
  readonly #secret: string
  readonly #isSafe: boolean
  readonly #nonce = base64(crypto.getRandomValues(new Uint8Array(18)))
  #serverSignature: string | null = null

  constructor(secret: string, isSafe: boolean) {
    this.#secret = secret
    this.#isSafe = isSafe
  }

  /** What to send on an `R` frame, null for nothing. Throws where the server asks for what is not done, or is not the right one. */
  async answer({ body }: Frame): Promise<Uint8Array | null> {
    const kind = wholeAt(body, 0)
    if (kind === OK) return null
    if (kind === CLEAR) {
      if (!this.#isSafe) throw new Error('the server wants the password in clear over a connection without TLS')
      return password(cString(this.#secret))
    }
    if (kind === SASL) {
      if (!textOf(body, 4).split('\0').includes(MECHANISM)) throw new Error(`the server does not know ${MECHANISM}`)
      return saslFirst(MECHANISM, `n,,${this.#first()}`)
    }
    if (kind === SASL_GOES_ON) return password(new TextEncoder().encode(await this.#final(textOf(body, 4))))
    if (kind === SASL_ENDS) {
      if (textOf(body, 4) !== `v=${this.#serverSignature}`) throw new Error('the server does not know the password')
      return null
    }
    throw new Error(`the server wants authentication of kind ${kind}: let it use ${MECHANISM}`)
  }

  #first(): string {
    // The user stands in the first frame of the connection.
    return `n=,r=${this.#nonce}`
  }

  async #final(serverFirst: string): Promise<string> {
    const {
      r = '',
      s = '',
      i = '',
    } = Object.fromEntries(serverFirst.split(',').map((field) => [field.slice(0, 1), field.slice(2)]))
    const rounds = Number(i)
    if (!r.startsWith(this.#nonce) || !(rounds >= 1 && rounds <= ROUNDS_MOST))
      throw new Error('the server answered wrongly')
    const salted = await pbkdf2(this.#secret, bytesOf(s), rounds)
    const clientKey = await hmac(salted, 'Client Key')
    const bare = `c=biws,r=${r}`
    const signed = `${this.#first()},${serverFirst},${bare}`
    const signature = await hmac(new Uint8Array(await crypto.subtle.digest('SHA-256', clientKey)), signed)
    this.#serverSignature = base64(await hmac(await hmac(salted, 'Server Key'), signed))
    const proof = clientKey.map((byte, at) => byte ^ signature[at]!)
    return `${bare},p=${base64(proof)}`
  }
}

async function pbkdf2(secret: string, salt: Uint8Array<ArrayBuffer>, iterations: number) {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)))
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const bytesOf = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
