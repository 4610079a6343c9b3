// One call of a tool: price or requests, then the result. The requests of a call run at the same time. A caller without a
// key pays for a result before it leaves.

import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'
import {
  type CallContext,
  isDryRun,
  pageOf,
  priceOfRequests,
  type Shaped,
  type Tool,
  type ToolFailure,
  type ToolRequest,
} from './tool.ts'
import {
  answerOf,
  contentOf,
  factsOf,
  failureOf,
  failureResult,
  NO_FACTS,
  priceResult,
  type SurfaceReply,
  successResult,
  type ToolResult,
  UNEXPECTED,
} from './tool-result.ts'

export interface Caller {
  readonly chain: string
  readonly origin: string
  readonly nowMs: number
  /** Sends a request with the caller's key. */
  readonly send: (request: ToolRequest) => Promise<SurfaceReply>
  /** Present if the caller has no key and may pay for each call. */
  readonly pay?: PayForTool
}

export interface PaymentRequest {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly price: MicroCredits
  /** As in the metadata of the call; undefined: none. */
  readonly payment: unknown
}

/** `required`: what x402 calls `PaymentRequired`, which says how to pay. */
export type ToolPaymentError =
  | { readonly required: Readonly<Record<string, unknown>> }
  | { readonly failure: ToolFailure }

/** A held payment. The caller calls exactly one of `settle` and `release`, once. */
export interface PaidTool {
  readonly send: (request: ToolRequest) => Promise<SurfaceReply>
  /** Takes the payment. `response`: what x402 calls `SettlementResponse`; `cost` in credits. */
  readonly settle: () => Promise<Result<{ readonly response: unknown; readonly cost: string }, ToolPaymentError>>
  readonly release: () => Promise<void>
}

export type PayForTool = (request: PaymentRequest) => Promise<Result<PaidTool, ToolPaymentError>>

const STEP_MS = 1_000

/** `input`: arguments that passed the tool's schema. `payment`: of x402, from the metadata of the call. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  caller: Caller,
  payment?: unknown,
): Promise<ToolResult> {
  const { origin, chain, send, pay } = caller
  const page = pageOf(input)
  // Windows end at a whole second, so that callers share cached answers.
  const nowMs = page.startedMs ?? Math.ceil(caller.nowMs / STEP_MS) * STEP_MS
  const call: CallContext = { chain, origin, nowMs, page }
  if (isDryRun(input)) return dryRun(tool, input, call, send)
  const requests = tool.requests(input, call)
  const price = pay === undefined ? ok(0) : priceOfRequests(requests)
  // Without a price, the surfaces say what is wrong.
  if (pay === undefined || !price.ok || price.value === 0) return answered(tool, input, call, requests, send)
  const paid = await pay({ tool: tool.name, input, price: price.value, payment })
  if (!paid.ok) return unpaidResult(paid.error, origin)
  const result = await answered(tool, input, call, requests, paid.value.send)
  if (result.isError) {
    await paid.value.release()
    return result
  }
  const receipt = await paid.value.settle()
  return receipt.ok ? paidResult(result, receipt.value) : unpaidResult(receipt.error, origin)
}

async function answered(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  call: CallContext,
  requests: readonly ToolRequest[],
  send: Caller['send'],
): Promise<ToolResult> {
  const replies = await Promise.all(requests.map((request) => send(request)))
  const facts = factsOf(replies)
  const failed = replies.find(({ status }) => status !== 200)
  const shaped = failed === undefined ? shapedBy(tool, replies, input, call) : err(failureOf(failed))
  return shaped.ok
    ? successResult(shaped.value, input, facts, call.nowMs)
    : failureResult(shaped.error, facts, call.origin)
}

/** The form of x402 for a tool that has to be paid. */
function unpaidResult(error: ToolPaymentError, origin: string): ToolResult {
  if ('failure' in error) return failureResult(error.failure, NO_FACTS, origin)
  return { ...contentOf(error.required), isError: true }
}

function paidResult({ structuredContent }: ToolResult, receipt: { response: unknown; cost: string }): ToolResult {
  const content = contentOf({ ...structuredContent, credits_cost: receipt.cost })
  return { ...content, _meta: { 'x402/payment-response': receipt.response } }
}

async function dryRun(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  call: CallContext,
  send: Caller['send'],
): Promise<ToolResult> {
  if (tool.estimate === undefined) {
    const price = priceOfRequests(tool.requests(input, call))
    return price.ok ? priceResult(formatCredits(price.value)) : failureResult(price.error, NO_FACTS, call.origin)
  }
  const reply = await send(tool.estimate(input, call))
  if (reply.status !== 200) return failureResult(failureOf(reply), NO_FACTS, call.origin)
  const { credits } = answerOf(reply).body as { readonly credits: string }
  return priceResult(credits)
}

function shapedBy(
  tool: Tool,
  replies: readonly SurfaceReply[],
  input: Readonly<Record<string, unknown>>,
  call: CallContext,
): Result<Shaped, ToolFailure> {
  try {
    return tool.result(replies.map(answerOf), input, call)
  } catch (error) {
    if (error instanceof TypeError) return err(UNEXPECTED)
    throw error
  }
}
