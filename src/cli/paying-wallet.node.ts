// A wallet that pays for HTTP requests by x402. Loaded when a command pays.

import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, type PaymentRequirements, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, generateSiweNonce } from 'viem/siwe'
import { CHAIN_ID, DECIMALS, TOKEN } from '../devnet/evm/token.ts'

/** The payment of a request. */
interface Receipt {
  /** In atomic units of the asset. */
  readonly amount: string
  /** Name of the asset. */
  readonly asset: string
  readonly network: string
  readonly transaction: string
}

export interface PaidResponse {
  readonly response: Response
  /** Null if nothing was paid. */
  readonly receipt: Receipt | null
}

/** Repetitions of a request whose payment has no known outcome yet. They use the same payment. */
const MAX_REPEATS = 5
const REPEAT_MS = 2_000

export class PayingWallet {
  readonly #account: ReturnType<typeof privateKeyToAccount>
  readonly #wait: (ms: number) => Promise<unknown>

  /** Throws if `key` is not a private key. */
  constructor(key: string, wait: (ms: number) => Promise<unknown>) {
    this.#account = privateKeyToAccount(key as `0x${string}`)
    this.#wait = wait
  }

  /**
   * Sends a request and pays for it, at most `maxUsd`, in a dollar token that @x402/evm knows, or in devnet's. Rejects if
   * the price is higher.
   */
  async fetch(url: string, init: RequestInit, maxUsd: string): Promise<PaidResponse> {
    let chosen: PaymentRequirements | null = null
    const devnet = { network: `eip155:${CHAIN_ID}`, asset: TOKEN, maxAmountPerPayment: atomic(maxUsd) } as const
    const client = new x402Client()
      .register('eip155:*', new ExactEvmScheme(this.#account))
      .setSpendControls({ maxAmountPerPayment: `$${maxUsd}`, allowedAssets: [devnet] })
      .onAfterPaymentCreation(async ({ selectedRequirements }) => {
        chosen = selectedRequirements
      })
    const response = await wrapFetchWithPayment(this.#repeatingFetch, client)(url, init).catch((error: Error) => {
      throw error.message.includes('spendControls') ? new Error(tooExpensive(maxUsd)) : error
    })
    const settled = response.headers.get('payment-response')
    return { response, receipt: settled === null ? null : receiptOf(chosen, settled) }
  }

  /** A message that proves to the gateway at `url` who owns this wallet, and its signature (EIP-4361). */
  async signIn(url: string, network: string, nowMs: number): Promise<{ message: string; signature: string }> {
    const message = createSiweMessage({
      address: this.#account.address,
      chainId: Number(network.replace('eip155:', '')),
      domain: new URL(url).host,
      issuedAt: new Date(nowMs),
      nonce: generateSiweNonce(),
      uri: url,
      version: '1',
    })
    return { message, signature: await this.#account.signMessage({ message }) }
  }

  /** Repeats a paid request while the gateway waits for the outcome of its payment. */
  readonly #repeatingFetch = async (...call: Parameters<typeof fetch>): Promise<Response> => {
    const request = new Request(...call)
    for (let repeats = 0; ; repeats++) {
      const response = await fetch(request.clone())
      const isUnknown = request.headers.has('payment-signature') && [502, 503].includes(response.status)
      if (!isUnknown || repeats === MAX_REPEATS) return response
      await this.#wait(REPEAT_MS)
    }
  }
}

const tooExpensive = (maxUsd: string) =>
  `The gateway asks for more than ${maxUsd} US dollars, or for an unknown token. --max-usd raises the limit.`

function receiptOf(chosen: PaymentRequirements | null, header: string): Receipt | null {
  const { success, transaction, network } = decodePaymentResponseHeader(header)
  if (!success || chosen === null) return null
  return { amount: chosen.amount, asset: String(chosen.extra.name), network, transaction }
}

/** Atomic units of an amount with at most as many decimals as devnet's token has. */
function atomic(usd: string): string {
  const [whole = '', fraction = ''] = usd.split('.')
  return String(BigInt(whole + fraction.padEnd(DECIMALS, '0')))
}
