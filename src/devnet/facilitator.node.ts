// An x402 facilitator for payments with the simulated chain's token: the unmodified one of @x402/evm, with viem on POST
// /evm's handler. Loaded when it is first called.

import { x402Facilitator } from '@x402/core/facilitator'
import { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from '@x402/core/schemas'
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, custom, defineChain, keccak256, publicActions, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { handleEvm } from './evm/rpc.ts'
import type { EvmNode } from './evm/submission.ts'
import { CHAIN_ID } from './evm/token.ts'

const NETWORK = `eip155:${CHAIN_ID}` as const
/** A block takes a second. */
const POLL_MS = 100
const CONFIRMED_WITHIN_MS = 20_000

/** Faults of a settlement beside those of an answer. */
type SettleFault = 'skip' | 'deny' | 'twice'

/** Responses of a facilitator's endpoints. */
export interface Facilitator {
  supported(): object
  /** Throws a TypeError if the body is not a request. */
  verify(body: unknown): Promise<VerifyResponse>
  /** Throws a TypeError if the body is not a request. */
  settle(body: unknown, fault: SettleFault | null): Promise<SettleResponse>
}

/** `key`: private key of the wallet that sends the transactions. */
export function createFacilitator(node: EvmNode, key: `0x${string}`): Facilitator {
  const facilitator = new x402Facilitator().register(NETWORK, new ExactEvmScheme(signerOf(node, key)))
  return {
    supported: () => facilitator.getSupported(),
    verify: async (body) => facilitator.verify(...readRequest(body)),
    settle: async (body, fault) => {
      const request = readRequest(body)
      if (fault === 'skip') return { ...outcome(request), success: true, transaction: inventedHash(body) }
      const settled = await facilitator.settle(...request)
      if (fault === 'twice') return facilitator.settle(...request)
      if (fault === 'deny')
        return { ...outcome(request), success: false, errorReason: 'unexpected_settle_error', transaction: '' }
      return settled
    },
  }
}

type Request = readonly [PaymentPayload, PaymentRequirements]

function readRequest(body: unknown): Request {
  const { paymentPayload, paymentRequirements } = (body ?? {}) as Record<string, unknown>
  const payload = PaymentPayloadV2Schema.safeParse(paymentPayload)
  const requirements = PaymentRequirementsV2Schema.safeParse(paymentRequirements)
  if (!payload.success) throw new TypeError(`paymentPayload: ${payload.error.issues[0]?.message}`)
  if (!requirements.success) throw new TypeError(`paymentRequirements: ${requirements.error.issues[0]?.message}`)
  return [payload.data as PaymentPayload, requirements.data as PaymentRequirements]
}

function outcome([{ payload }, { network }]: Request): Pick<SettleResponse, 'network' | 'payer'> {
  const { from } = (payload.authorization ?? {}) as { readonly from?: string }
  return { network, ...(from !== undefined && { payer: from }) }
}

const inventedHash = (body: unknown) => keccak256(stringToHex(JSON.stringify(body)))

function signerOf(node: EvmNode, key: `0x${string}`) {
  const account = privateKeyToAccount(key)
  const client = createWalletClient({
    account,
    chain: defineChain({
      id: CHAIN_ID,
      name: 'devnet',
      nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: custom({ request: (call) => request(node, call) }, { retryCount: 0 }),
    pollingInterval: POLL_MS,
  }).extend(publicActions)
  // One at a time, because each takes the next nonce of the wallet.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(send: () => Promise<T>): Promise<T> => {
    const sent = last.then(send)
    last = sent.catch(() => {})
    return sent
  }
  return toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (args) => client.readContract(args as never),
      verifyTypedData: (args) => client.verifyTypedData(args as never),
      writeContract: (args) => inTurn(() => client.writeContract(args as never)),
      sendTransaction: (args) => inTurn(() => client.sendTransaction(args)),
      waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
      getCode: (args) => client.getCode(args),
    },
    { confirmationTimeoutMs: CONFIRMED_WITHIN_MS },
  )
}

async function request(node: EvmNode, { method, params = [] }: { method: string; params?: unknown }) {
  const answer = (await handleEvm(node, { jsonrpc: '2.0', id: 1, method, params })) as {
    readonly result?: unknown
    readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
  }
  if (answer.error !== undefined) throw Object.assign(new Error(answer.error.message), answer.error)
  return answer.result
}
