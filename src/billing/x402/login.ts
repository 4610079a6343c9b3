// A wallet proves who it is: it signs a text (EIP-4361, "Sign-In with Ethereum") for this host. Invariants: a text for
// another host, an old one and one that another wallet signed are refused; a text is accepted for five minutes, and its
// nonce is remembered for ten, because clocks differ.

import { parseSiweMessage, validateSiweMessage } from 'viem/siwe'
import { recoverMessageAddress } from 'viem/utils'
import type * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { type LoginRequest, NONCE_MAX } from './login-request.ts'

const ACCEPTED_MS = 5 * MINUTE_MS

export interface Login {
  readonly network: string
  /** Lower case. */
  readonly address: string
  readonly nonce: string
  /** Until then, the nonce must not be accepted again. */
  readonly untilMs: number
}

/** Reads what a wallet says in its text. `networks`: CAIP-2 ids. The error says what to send instead. */
export function readLogin(
  message: string,
  { host, networks, nowMs }: { readonly host: string; readonly networks: readonly string[]; readonly nowMs: number },
): Result<Login, string> {
  const text = parseSiweMessage(message)
  const { address, chainId, domain, issuedAt, nonce, uri, version } = text
  if (!address || !domain || !issuedAt || !nonce || !uri || !version || chainId === undefined)
    return err('must be a text of EIP-4361 (Sign-In with Ethereum)')
  if (domain !== host || URL.parse(uri)?.host !== host) return err(`must have the domain ${host} and a URI of it`)
  const network = `eip155:${chainId}`
  if (!networks.includes(network)) return err(`must have the chain id of one of these networks: ${networks.join(', ')}`)
  const issuedMs = issuedAt.getTime()
  // NaN is not at most anything.
  if (!(Math.abs(nowMs - issuedMs) <= ACCEPTED_MS)) return err('must have been issued in the last five minutes')
  if (nonce.length > NONCE_MAX || !validateSiweMessage({ message: text, time: new Date(nowMs) }))
    return err(`must be valid now, with version 1 and a nonce of 8 to ${NONCE_MAX} letters and digits`)
  return ok({ network, address: address.toLowerCase(), nonce, untilMs: issuedMs + 2 * ACCEPTED_MS })
}

/** Whether the wallet signed the text. */
export async function isSignedBy(
  address: string,
  { message, signature }: z.infer<typeof LoginRequest>,
): Promise<boolean> {
  try {
    const signer = await recoverMessageAddress({ message, signature: signature as `0x${string}` })
    return signer.toLowerCase() === address
  } catch {
    return false
  }
}
