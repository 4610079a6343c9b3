// The request of a wallet for a new key, and its reply. login.ts checks the request, and is loaded on demand.

import * as z from 'zod'
import { KINDS_TEXT } from '../../accounts/identity.ts'

export const NONCE_MAX = 96

export const LoginRequest = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(2_000)
    .describe(
      'Text of EIP-4361 with this host as its domain and the wallet’s address. The chain id is that of a network of `GET /x402`. The nonce is new and has 8 to 96 letters and digits. The text is at most five minutes old',
    ),
  signature: z
    .string()
    .regex(/^0x[0-9a-fA-F]{130}$/, 'must be "0x" and 130 hex digits. Contract wallets are not supported')
    .describe('Signature of the message by the wallet (`personal_sign`)'),
  kind: z.enum(['api', 'service']).default('api').describe(`Kind of key. ${KINDS_TEXT}`),
})

export const WalletKey = z.object({
  account: z.string().describe('Account of the wallet'),
  key: z.string().describe('New key, shown only once'),
  hash: z.string().describe('SHA-256 of the key'),
  prefix: z.string().describe('First 12 characters of the key'),
  label: z.string().describe('Display name'),
})
