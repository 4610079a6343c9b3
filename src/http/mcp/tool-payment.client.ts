// A tool that a caller without a key pays for by x402: the payment is in the metadata of the call, and its price is that of
// all requests of the tool. Invariants: the payment serves these arguments of this tool alone; a failed tool is not paid.

import { decodePaymentRequiredHeader, decodePaymentResponseHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import type { Identity } from '../../accounts/identity.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { infoFailure, type Reply } from '../../protocol/failure-wire.ts'
import type { Access, Visitor } from '../metered.route.ts'
import type { PaidTool, PayForTool, PaymentRequest, ToolPaymentError } from './call-tool.ts'
import type { ToolRequest } from './tool.ts'
import { failureOf, type SurfaceReply } from './tool-result.ts'

export interface PaymentContext {
  /** The request of the MCP client. */
  readonly outer: Request
  readonly admit: NonNullable<Access['admitVisitor']>
  readonly waitUntil: WaitUntil
  readonly answer: (request: ToolRequest, payer: Identity) => Promise<SurfaceReply>
  readonly requestId: () => string
}

export function paymentsOf(context: PaymentContext): PayForTool {
  const { admit, waitUntil, answer, requestId } = context
  const refuse = (failure: Failure) => infoFailure(failure, requestId())
  return async (request) => {
    const visitor = await admit(paymentRequest(context.outer, request), waitUntil)
    if (!visitor.ok) return err(errorOf(refuse(visitor.error)))
    const { identity, charging } = visitor.value
    const price = { product: 'info', type: `mcp ${request.tool}`, amount: request.price } as const
    const held = await charging.hold(identity, price)
    if (!held.ok) return err(errorOf(await visitor.value.complete(refuse(held.error), refuse)))
    return ok({
      send: (part) => answer(part, identity),
      settle: async () => {
        held.value.settle()
        return receiptOf(visitor.value, refuse)
      },
      release: async () => {
        held.value.release()
        await visitor.value.complete({ status: 500, headers: {}, body: null }, refuse)
      },
    } satisfies PaidTool)
  }
}

/** A request that stands for the call: the caller's address, the tool and its arguments. */
function paymentRequest({ url, headers: outer }: Request, { tool, input, payment }: PaymentRequest): Request {
  const headers = new Headers({ 'content-type': 'application/json' })
  const address = outer.get('cf-connecting-ip')
  if (address !== null) headers.set('cf-connecting-ip', address)
  if (payment !== undefined) headers.set('payment-signature', encodePaymentSignatureHeader(payment as PaymentPayload))
  const body = canonicalJson({ tool, arguments: input })
  return new Request(url, { method: 'POST', headers, body })
}

async function receiptOf(
  visitor: Visitor,
  refuse: (failure: Failure) => Reply,
): Promise<Result<{ readonly response: unknown; readonly cost: string }, ToolPaymentError>> {
  const reply = await visitor.complete({ status: 200, headers: {}, body: null }, refuse)
  if (reply.status !== 200) return err(errorOf(reply))
  const { 'payment-response': response = '', 'x-credits-cost': cost = '0' } = reply.headers
  return ok({ response: decodePaymentResponseHeader(response), cost })
}

function errorOf({ status, headers, body }: Reply): ToolPaymentError {
  const required = headers['payment-required']
  if (required !== undefined) return { required: { ...decodePaymentRequiredHeader(required) } }
  return { failure: failureOf({ status, headers: new Headers(headers), text: String(body ?? '') }) }
}
