// One call of a tool: price or requests, then the result. The requests of a call run at the same time.

import { formatCredits } from '../../core/amount.ts'
import { err, type Result } from '../../core/result.ts'
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
  factsOf,
  failureOf,
  failureResult,
  NO_FACTS,
  priceResult,
  type SurfaceReply,
  successResult,
  UNEXPECTED,
} from './tool-result.ts'

export interface Caller {
  readonly chain: string
  readonly origin: string
  readonly nowMs: number
  /** Sends a request with the caller's key. */
  readonly send: (request: ToolRequest) => Promise<SurfaceReply>
}

const STEP_MS = 1_000

/** `input`: arguments that passed the tool's schema. */
export async function callTool(tool: Tool, input: Readonly<Record<string, unknown>>, caller: Caller) {
  const { origin, chain, send } = caller
  const page = pageOf(input)
  // Windows end at a whole second, so that callers share cached answers.
  const nowMs = page.startedMs ?? Math.ceil(caller.nowMs / STEP_MS) * STEP_MS
  const call: CallContext = { chain, origin, nowMs, page }
  if (isDryRun(input)) return dryRun(tool, input, call, send)
  const replies = await Promise.all(tool.requests(input, call).map(send))
  const facts = factsOf(replies)
  const failed = replies.find(({ status }) => status !== 200)
  const shaped = failed === undefined ? shapedBy(tool, replies, input, call) : err(failureOf(failed))
  return shaped.ok ? successResult(shaped.value, input, facts, nowMs) : failureResult(shaped.error, facts, origin)
}

async function dryRun(tool: Tool, input: Readonly<Record<string, unknown>>, call: CallContext, send: Caller['send']) {
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
