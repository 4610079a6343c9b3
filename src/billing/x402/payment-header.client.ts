// The headers of x402, version 2. `@x402/core` encodes, decodes and matches them. Invariants: a payment that does not fit
// the offer exactly, or that its wallet did not sign, causes no work elsewhere; its text is bounded before it is parsed.

import { decodePaymentSignatureHeader, encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { PaymentPayloadV2Schema } from '@x402/core/schemas'
import { x402ResourceServer } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { recoverTypedDataAddress } from 'viem/utils'
import * as z from 'zod'
import { isDeeperThan } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Offer } from './offer.ts'
import { type Authorization, expiryMs, type Requirement, VALID_MAX_MS } from './payment.ts'

const HEADER_MAX_CHARS = 8_192
const MAX_DEPTH = 8

const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`))
    .transform((text) => text.toLowerCase() as `0x${string}`)
const Seconds = z.string().regex(/^(?:0|[1-9]\d{0,11})$/)

/** Signed by a wallet with a key of its own: contracts sign in other forms. */
const Exact = z.object({
  signature: hex(65),
  authorization: z.object({
    from: hex(20),
    to: hex(20),
    value: z.string().regex(/^[1-9]\d{0,29}$/),
    validAfter: Seconds,
    validBefore: Seconds,
    nonce: hex(32),
  }),
})

export interface SignedPayment {
  readonly offer: Offer
  readonly authorization: Authorization
  readonly signature: string
}

/** Only compares: it calls no facilitator. */
const matcher = new x402ResourceServer([])

/** The payment of a request to `url`. The error says what is wrong with it. */
export async function readPayment(
  header: string,
  url: string,
  offers: readonly Offer[],
  nowMs: number,
): Promise<Result<SignedPayment, string>> {
  const payload = payloadOf(header)
  if (payload === null) return err('The header PAYMENT-SIGNATURE is not a payment of x402 version 2.')
  if (payload.resource !== undefined && payload.resource.url !== url)
    return err(`This payment was made for another URL than ${url}.`)
  const requirements = offers.map(
    ({ requirement }): PaymentRequirements => ({ ...requirement, extra: { ...requirement.extra } }),
  )
  const matching = matcher.findMatchingRequirements(requirements, payload)
  const offer = matching && offers[requirements.indexOf(matching)]
  if (offer === undefined)
    return err('This payment does not match the price of this request. Pay what PAYMENT-REQUIRED says.')
  const exact = Exact.safeParse(payload.payload)
  if (!exact.success)
    return err(
      'The payload is not an ERC-3009 authorization with the signature of a wallet. Contract wallets cannot pay here.',
    )
  const { authorization, signature } = exact.data
  const fault = faultOf(authorization, offer.requirement, nowMs)
  if (fault !== null) return err(fault)
  if (!(await isSigned(authorization, signature, offer.requirement)))
    return err('The signature of the authorization is not that of the wallet "from".')
  return ok({ offer, authorization, signature })
}

function payloadOf(header: string): PaymentPayload | null {
  if (header.length > HEADER_MAX_CHARS) return null
  try {
    const decoded: unknown = decodePaymentSignatureHeader(header)
    if (isDeeperThan(JSON.stringify(decoded), MAX_DEPTH)) return null
    const payload = PaymentPayloadV2Schema.safeParse(decoded)
    return payload.success ? (payload.data as PaymentPayload) : null
  } catch {
    return null
  }
}

function faultOf(authorization: Authorization, { amount, payTo }: Requirement, nowMs: number): string | null {
  if (authorization.to !== payTo) return `The authorization pays another receiver than ${payTo}.`
  if (authorization.value !== amount) return `The authorization must be for exactly ${amount}.`
  if (Number(authorization.validAfter) * 1000 > nowMs) return 'The authorization is not valid yet.'
  if (expiryMs({ authorization }) > nowMs + VALID_MAX_MS) return 'The authorization must expire within an hour.'
  return null
}

async function isSigned(
  { from, to, value, validAfter, validBefore, nonce }: z.infer<typeof Exact>['authorization'],
  signature: `0x${string}`,
  { network, asset, extra }: Requirement,
): Promise<boolean> {
  const chainId = Number(network.slice('eip155:'.length))
  const message = {
    from,
    to,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  }
  const domain = { ...extra, chainId, verifyingContract: asset as `0x${string}` }
  try {
    const primaryType = 'TransferWithAuthorization'
    const signer = await recoverTypedDataAddress({
      domain,
      types: AUTHORIZATION_TYPES,
      primaryType,
      message,
      signature,
    })
    return signer.toLowerCase() === from
  } catch {
    return false
  }
}

/** Header that says how to pay. `error`: why the request was not answered. */
export function requiredHeader(url: string, offers: readonly Offer[], error: string): Readonly<Record<string, string>> {
  const accepts = offers.map(({ requirement }) => ({ ...requirement, extra: { ...requirement.extra } }))
  const resource = { url, mimeType: 'application/json' }
  return { 'payment-required': encodePaymentRequiredHeader({ x402Version: 2, error, resource, accepts }) }
}

/** Header that says what became of a payment. `transaction`: null if it was not made, for the reason `why`. */
export function responseHeader(
  { authorization, offer }: SignedPayment,
  transaction: string | null,
  why = '',
): Readonly<Record<string, string>> {
  const { network } = offer.requirement
  const outcome = transaction === null ? { success: false, errorReason: why } : { success: true }
  const response = { ...outcome, transaction: transaction ?? '', network, payer: authorization.from }
  return { 'payment-response': encodePaymentResponseHeader(response) }
}
