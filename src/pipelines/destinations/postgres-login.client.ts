// How a client of PostgreSQL proves its password: by SCRAM-SHA-256, or where nobody reads the connection by MD5 or in clear.
// Law: a server that begins with SCRAM has to prove that it knows the password, too.

import { cString, type Frame, joined, password, saslFirst, textOf, wholeAt } from './postgres-wire.ts'

const OK = 0
const CLEAR = 3
const MD5 = 5
const SASL = 10
const SASL_GOES_ON = 11
const SASL_ENDS = 12
const MECHANISM = 'SCRAM-SHA-256'
/** The platform hashes no more; PostgreSQL has 4,096 where nobody has set others. */
const ROUNDS_MOST = 100_000
/** SCRAM's three, and that it is well. */
const ASKED_MOST = 4

const encoder = new TextEncoder()

export class Login {
  readonly #user: string
  readonly #secret: string
  readonly #isSafe: boolean
  readonly #nonce = base64(crypto.getRandomValues(new Uint8Array(18)))
  /** Which step of SCRAM comes next; null: it was not begun, or is done. */
  #next: typeof SASL_GOES_ON | typeof SASL_ENDS | null = null
  #asked = 0
  #serverSignature = ''

  constructor(user: string, secret: string, isSafe: boolean) {
    this.#user = user
    this.#secret = secret
    this.#isSafe = isSafe
  }

  /** What to send on an `R` frame, null for nothing. Throws where the server asks for what is not done, or is not the right one. */
  async answer({ body }: Frame): Promise<Uint8Array | null> {
    const kind = wholeAt(body, 0)
    const isLater = kind === SASL_GOES_ON || kind === SASL_ENDS
    if (++this.#asked > ASKED_MOST || kind !== (this.#next ?? (isLater ? null : kind)))
      throw new Error('the server does not prove that it knows the password')
    if (kind === OK) return null
    if (kind === CLEAR || kind === MD5) {
      if (!this.#isSafe)
        throw new Error(`without TLS the server must use ${MECHANISM}, and wants the password otherwise`)
      return password(cString(kind === CLEAR ? this.#secret : await this.#md5(body.subarray(4, 8))))
    }
    if (kind === SASL) {
      if (!textOf(body, 4).split('\0').includes(MECHANISM)) throw new Error(`the server does not know ${MECHANISM}`)
      this.#next = SASL_GOES_ON
      return saslFirst(MECHANISM, `n,,${this.#first()}`)
    }
    if (kind === SASL_GOES_ON) {
      this.#next = SASL_ENDS
      return password(encoder.encode(await this.#final(textOf(body, 4))))
    }
    if (kind === SASL_ENDS) {
      if (textOf(body, 4) !== `v=${this.#serverSignature}`) throw new Error('the server does not know the password')
      this.#next = null
      return null
    }
    throw new Error(`the server wants authentication of kind ${kind}: let it use ${MECHANISM}`)
  }

  async #md5(salt: Uint8Array): Promise<string> {
    const kept = await md5([encoder.encode(this.#secret + this.#user)])
    return `md5${await md5([encoder.encode(kept), salt])}`
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
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
}

async function md5(parts: readonly Uint8Array[]): Promise<string> {
  const digest = await crypto.subtle.digest('MD5', joined(parts))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const bytesOf = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
