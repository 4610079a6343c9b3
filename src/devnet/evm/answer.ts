// POST /evm: JSON-RPC 2.0, single calls and batches.

import * as z from 'zod'
import { EvmBlocks, type Origin } from './blocks.ts'
import { EvmError, METHODS } from './methods.ts'

const MAX_BATCH = 100

const Call = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

const failed = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })

/** Answers a parsed JSON body. */
export function answerEvm(x: Origin, body: unknown): unknown {
  const blocks = new EvmBlocks(x)
  if (!Array.isArray(body)) return answerCall(blocks, body)
  if (body.length === 0 || body.length > MAX_BATCH) return failed(null, -32600, `a batch has 1 to ${MAX_BATCH} calls`)
  return body.map((call) => answerCall(blocks, call))
}

function answerCall(blocks: EvmBlocks, body: unknown): unknown {
  const parsed = Call.safeParse(body)
  if (!parsed.success) return failed(null, -32600, 'invalid request')
  const { id, method, params } = parsed.data
  const answer = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (answer === undefined) return failed(id, -32601, `the method ${method} does not exist`)
  try {
    return { jsonrpc: '2.0', id, result: answer(blocks, params) }
  } catch (error) {
    if (error instanceof EvmError) return failed(id, error.code, error.message)
    throw error
  }
}
