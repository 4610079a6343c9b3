// The HTTP server on 127.0.0.1: POST /info and POST /evm with the public server's errors, and /facilitator for x402
// payments. For tests: POST /misbehave makes /info and the facilitator fail (misbehave.node.ts), POST /disturb disturbs the
// node's files, and GET /books is in book-hashes.node.ts.

import { realpathSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { basename, dirname, isAbsolute, join, resolve as resolvePath, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { wholeNumber } from '../core/whole-number.ts'
import type { BookHashOracle } from './book-hashes.node.ts'
import type { Engine } from './engine.ts'
import type { Ledger } from './evm/ledger.ts'
import { handleEvm } from './evm/rpc.ts'
import type { EvmNode } from './evm/submission.ts'
import { SPARSE_STREAMS, STREAMS } from './exchange/node-block.ts'
import type { Facilitator } from './facilitator.node.ts'
import { handleInfo, type InfoResponse } from './info/info.ts'
import { l4Snapshot } from './info/l4-snapshot.ts'
import { Faults, isOpen, MisbehaveRequest, misbehave, type OpenFault, withLag } from './misbehave.node.ts'
import { simulatedKey } from './simulated-keys.node.ts'

/** Longest pause. During a pause, new blocks wait in memory and are written when it ends. */
const MAX_HOLD_MS = 10_000
/** Streams that a node may run without. */
const OPTIONAL = [...SPARSE_STREAMS, 'node_order_statuses_by_block'] as const

/** Body of `POST /disturb`. Unknown fields are rejected, so that a typo is noticed. */
export const DisturbRequest = z.discriminatedUnion('what', [
  /** Writes nothing for a while, then writes some heights again, followed by all waiting blocks. */
  z.strictObject({
    what: z.literal('restart'),
    for_ms: z.int().min(1).max(MAX_HOLD_MS).default(2_000),
    rewrite: z.int().min(0).max(20).default(5),
  }),
  /** The same, but no heights are written again. */
  z.strictObject({ what: z.literal('pause'), for_ms: z.int().min(1).max(MAX_HOLD_MS).default(2_000) }),
  /** Writes no lines to the stream for a while. The skipped lines are never written. */
  z.strictObject({
    what: z.literal('cut'),
    stream: z.enum(OPTIONAL),
    for_ms: z.int().min(1).max(600_000).default(10_000),
  }),
  /** Deletes the older half of a stream's lines. */
  z.strictObject({ what: z.literal('rotate'), stream: z.enum(STREAMS) }),
  /** Leaves the next blocks without events. */
  z.strictObject({ what: z.literal('quiet'), blocks: z.int().min(0).max(20_000) }),
])
export type DisturbRequest = z.infer<typeof DisturbRequest>

/** A query that only nodes support. It writes a file with every resting order. */
const FileSnapshotRequest = z.object({
  type: z.literal('fileSnapshot'),
  request: z.object({
    type: z.literal('l4Snapshots'),
    includeUsers: z.boolean(),
    includeTriggerOrders: z.boolean(),
  }),
  outPath: z.string().min(1).max(4096),
  includeHeightInOutput: z.boolean(),
})

const MAX_BODY_BYTES = 64 * 1024
const BAD_JSON: InfoResponse = { status: 400, text: 'Failed to parse the request body as JSON' }
const TOO_LARGE: InfoResponse = { status: 413, text: `The request body is larger than ${MAX_BODY_BYTES} bytes` }
const NOT_JSON: InfoResponse = { status: 415, text: 'Expected request with `Content-Type: application/json`' }

export interface ServerState {
  readonly engine: Engine
  readonly truth: BookHashOracle
  /** Transactions submitted to the EVM. */
  readonly ledger: Ledger
  /** Disturbs the files. */
  readonly disturb: (request: DisturbRequest) => void
  /** Folder of the block files. Snapshots are written next to this folder. */
  readonly data: string
}

/** Creates a server for the state that `served()` returns. The caller calls listen() and close(). */
export function devnetServer(served: () => ServerState): Server {
  const faults = new Faults()
  const payments = new Payments(
    () => nodeOf(served()),
    () => served().engine.exchange.seed,
    faults,
  )
  return createServer((request, response) => {
    handle(served, faults, payments, request).then(
      (result) => reply(response, result),
      () => response.destroy(),
    )
  })
}

const nodeOf = ({ engine, ledger }: ServerState): EvmNode => ({ origin: engine.exchange, ledger })

type HttpResult = (InfoResponse | { readonly status: 404 | 405 | 503 }) & { readonly fault?: OpenFault }

const PATHS = ['/info', '/evm', '/facilitator/verify', '/facilitator/settle', '/misbehave', '/disturb']

async function handle(
  served: () => ServerState,
  faults: Faults,
  payments: Payments,
  request: IncomingMessage,
): Promise<HttpResult> {
  const [path = '', query = ''] = request.url?.split('?') ?? []
  if (path === '/books' && request.method === 'GET') return bookHashes(served(), query)
  if (path === '/facilitator/supported' && request.method === 'GET') return payments.supported()
  if (!PATHS.includes(path)) return { status: 404 }
  if (request.method !== 'POST') return { status: 405 }
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')) return NOT_JSON
  const text = await readBody(request)
  if (text === null) return TOO_LARGE
  const body = parseJson(text)
  if (body === undefined) return BAD_JSON
  if (path === '/misbehave') return addFault(faults, body)
  if (path === '/disturb') return disturb(served(), body)
  if (path === '/facilitator/verify') return payments.handle('verify', body)
  if (path === '/facilitator/settle') return payments.handle('settle', body)
  if (path === '/evm') return { status: 200, body: await handleEvm(nodeOf(served()), body) }
  const { engine, data } = served()
  return handleQuery(engine, data, faults, body)
}

async function handleQuery(engine: Engine, data: string, faults: Faults, body: unknown): Promise<HttpResult> {
  const type = (body as { type?: unknown } | null)?.type
  const fault = faults.next(typeof type === 'string' ? type : '', performance.now())
  const snapshot = FileSnapshotRequest.safeParse(body)
  const result = snapshot.success ? await writeSnapshot(engine, data, snapshot.data) : handleInfo(engine, body)
  if (fault === null) return result
  if (isOpen(fault)) return { ...result, fault }
  return 'body' in result ? { ...result, body: withLag(result.body, fault.byMs) } : result
}

/** The calls of the facilitator, with their faults. */
class Payments {
  readonly #node: () => EvmNode
  readonly #seed: () => number
  readonly #faults: Faults
  #facilitator: Promise<Facilitator> | null = null

  constructor(node: () => EvmNode, seed: () => number, faults: Faults) {
    this.#node = node
    this.#seed = seed
    this.#faults = faults
  }

  async supported(): Promise<InfoResponse> {
    return { status: 200, body: (await this.#loaded()).supported() }
  }

  async handle(call: 'verify' | 'settle', body: unknown): Promise<HttpResult> {
    const fault = this.#faults.next(`x402:${call}`, performance.now())
    if (fault?.how === 'unavailable') return { status: 503 }
    const how = fault?.how === 'skip' || fault?.how === 'deny' || fault?.how === 'twice' ? fault.how : null
    const facilitator = await this.#loaded()
    const result: InfoResponse = await (call === 'verify'
      ? facilitator.verify(body)
      : facilitator.settle(body, how)
    ).then(
      (done) => ({ status: 200, body: done }),
      (error: Error) =>
        error instanceof TypeError
          ? { status: 400, text: error.message }
          : { status: 500, body: { error: error.message } },
    )
    if (fault?.how === 'lag') await sleep(Math.min(fault.byMs, fault.endMs - performance.now()))
    return fault !== null && isOpen(fault) ? { ...result, fault } : result
  }

  #loaded(): Promise<Facilitator> {
    this.#facilitator ??= import('./facilitator.node.ts').then(({ createFacilitator }) =>
      createFacilitator(this.#node(), simulatedKey(this.#seed(), 'facilitator')),
    )
    return this.#facilitator
  }
}

const Height = wholeNumber(0, Number.MAX_SAFE_INTEGER)

async function bookHashes({ engine, truth }: ServerState, query: string): Promise<InfoResponse> {
  const text = new URLSearchParams(query).get('height')
  const height = text === null ? null : Height.safeParse(text)
  if (height?.success === false) return invalid('height', height.error)
  const hashes = await truth.hashes(engine.exchange, height?.data ?? null)
  if (hashes !== null) return { status: 200, body: hashes }
  return {
    status: 422,
    text: 'height: must be the current height or at most 1,000 blocks ahead, with at most 16 waiting requests',
  }
}

function disturb(served: ServerState, body: unknown): InfoResponse {
  const parsed = DisturbRequest.safeParse(body)
  if (!parsed.success) return invalid('body', parsed.error)
  served.disturb(parsed.data)
  return { status: 200, body: { height: served.engine.height } }
}

const invalid = (name: string, { issues: [issue] }: z.ZodError): InfoResponse => ({
  status: 422,
  text: `${issue!.path.join('.') || name}: ${issue!.message}`,
})

function addFault(faults: Faults, body: unknown): InfoResponse {
  const parsed = MisbehaveRequest.safeParse(body)
  if (!parsed.success) return invalid('body', parsed.error)
  if (!faults.add(parsed.data, performance.now()))
    return { status: 422, text: 'too many active faults. End them with {"how": "none"}' }
  return { status: 200, body: { active: faults.active(performance.now()) } }
}

/** Null if the body is too large. The rest of the body is read and dropped, so that the error can be delivered. */
function readBody(request: IncomingMessage): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_BODY_BYTES) resolve(null)
    else chunks.push(chunk)
  })
  request.once('end', () => resolve(Buffer.concat(chunks).toString()))
  request.once('error', reject)
  return promise
}

/**
 * Writes the file under a temporary name first, so that a reader never sees an incomplete file. Blocks are created
 * while it is written.
 */
async function writeSnapshot(
  engine: Engine,
  data: string,
  request: z.infer<typeof FileSnapshotRequest>,
): Promise<InfoResponse> {
  const path = allowedPath(data, request.outPath)
  if (path === null)
    return { status: 422, text: 'outPath: must be an absolute path of a .json file next to the data folder' }
  const pieces = l4Snapshot(engine.exchange, request.request.includeUsers, request.includeHeightInOutput)
  try {
    await using file = await open(`${path}.part`, 'w')
    // Each write is awaited, so that blocks can be created between two pieces.
    for (const piece of pieces) await file.write(piece)
    await rename(`${path}.part`, path)
  } catch {
    return { status: 422, text: `cannot write ${path}` }
  }
  return { status: 200, body: null }
}

/** The path if its folder exists within the parent of the data folder and is not our own state; otherwise null. */
function allowedPath(data: string, outPath: string): string | null {
  if (!isAbsolute(outPath) || !outPath.endsWith('.json')) return null
  try {
    const parent = realpathSync(dirname(resolvePath(data)))
    const folder = realpathSync(dirname(resolvePath(outPath)))
    const own = join(realpathSync(data), 'devnet')
    const inside = folder === parent || folder.startsWith(parent.endsWith(sep) ? parent : parent + sep)
    return inside && folder !== own ? join(folder, basename(outPath)) : null
  } catch {
    return null
  }
}

function reply(response: ServerResponse, result: HttpResult): void {
  if (result.fault !== undefined) {
    const text = 'text' in result ? result.text : 'body' in result ? JSON.stringify(result.body) : ''
    misbehave(response, result.fault, text, performance.now())
  } else if ('text' in result) {
    // The rest of an oversized body is useless, so the connection is closed after the response.
    if (result.status === 413) response.setHeader('connection', 'close')
    response.writeHead(result.status, { 'content-type': 'text/plain; charset=utf-8' }).end(result.text)
  } else if ('body' in result)
    response.writeHead(result.status, { 'content-type': 'application/json' }).end(JSON.stringify(result.body))
  else response.writeHead(result.status).end()
}
