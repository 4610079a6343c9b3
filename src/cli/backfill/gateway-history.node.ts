// The history of a gateway as files, through the public API with an API key. Invariants: links are requested page by page, because
// they expire after an hour and are charged when they are listed; a file whose SHA-256 differs from the listing is not read.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { DAY_MS, SECOND_MS } from '../../core/time.ts'
import { visible } from '../../core/visible.ts'
import { SourceError } from './read-blocks.ts'

/** Links expire after an hour, so each request asks only for links that will be used soon. */
const PAGE = 100
const TIMEOUT_MS = 60_000
const TRIES = 6
const MAX_WAIT_SECONDS = 30

const Credits = z.coerce.number()
const File = z.looseObject({
  key: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  from_height: z.int(),
  to_height: z.int(),
  from_ms: z.int(),
  link: z.string(),
})
const FilesBody = z.looseObject({
  data: z.looseObject({ files: z.array(File), next: z.string().nullable(), credits: Credits }),
})
const CostBody = z.looseObject({
  data: z.looseObject({ objects: z.int(), bytes: z.int(), credits: Credits }),
})
const ErrorBody = z.looseObject({ error_message: z.string() })

export interface HistoryGateway {
  readonly url: string
  readonly key: string
  readonly chain: string
}

/** Range of the times of first blocks, Unix ms, inclusive. */
export interface HistoryRange {
  readonly fromMs: number
  readonly toMs: number
}

export type HistoryFile = z.infer<typeof File>
export type HistoryCost = z.infer<typeof CostBody>['data']

/** The files of a product, day by day. `onCost` receives the credits charged for links, which are listed `page` at a time. */
export async function* historyFiles(
  gateway: HistoryGateway,
  product: string,
  { fromMs, toMs }: HistoryRange,
  onCost: (credits: number) => void,
  page: number = PAGE,
): AsyncGenerator<HistoryFile> {
  for (let dayMs = fromMs; dayMs <= toMs; dayMs = (Math.floor(dayMs / DAY_MS) + 1) * DAY_MS) {
    const endMs = Math.min(toMs, (Math.floor(dayMs / DAY_MS) + 1) * DAY_MS - 1)
    const range = { from: String(dayMs), to: String(endMs), products: product, limit: String(page) }
    for (let after: string | null = ''; after !== null; ) {
      const params: Record<string, string> = after === '' ? range : { ...range, after }
      const found: z.infer<typeof FilesBody>['data'] = (await ask(gateway, 'files', params, FilesBody)).data
      onCost(found.credits)
      yield* found.files
      after = found.next
    }
  }
}

/** The price of all files of a range, free of charge. */
export async function historyCost(
  gateway: HistoryGateway,
  products: readonly string[],
  { fromMs, toMs }: HistoryRange,
): Promise<HistoryCost> {
  const params = { from: String(fromMs), to: String(toMs), products: products.join(',') }
  return (await ask(gateway, 'cost', params, CostBody)).data
}

/** The stored bytes of a file. Throws if they cannot be fetched or are altered. */
export async function fetchVerified(
  { url }: Pick<HistoryGateway, 'url'>,
  { link, sha256 }: Pick<HistoryFile, 'link' | 'sha256'>,
): Promise<Uint8Array> {
  const response = await fetch(new URL(link, url), { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`status ${response.status}`)
  const body = new Uint8Array(await response.arrayBuffer())
  if (createHash('sha256').update(body).digest('hex') !== sha256)
    throw new Error('its SHA-256 differs from the listing')
  return body
}

async function ask<T>(
  { url, key, chain }: HistoryGateway,
  what: string,
  params: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
): Promise<T> {
  const target = new URL(`/v1/${encodeURIComponent(chain)}/history/${what}`, url)
  target.search = new URLSearchParams(params).toString()
  const response = await fetchPatiently(target, { authorization: `Bearer ${key}` })
  if (response instanceof Error)
    throw new SourceError(
      `No gateway responds at ${url} (${visible(response.message)}). Check the URL and the network.`,
    )
  const json: unknown = await response.json().catch(() => null)
  if (!response.ok) throw new SourceError(`${url} rejected the request: ${visible(errorText(response.status, json))}`)
  const body = schema.safeParse(json)
  if (!body.success)
    throw new SourceError(`${url} does not respond like a Weir gateway with an archive. Check the URL.`)
  return body.data
}

/** Waits and retries while the gateway is busy or the rate limit of the key is reached. */
async function fetchPatiently(target: URL, headers: Readonly<Record<string, string>>): Promise<Response | Error> {
  for (let tries = 1; ; tries++) {
    const init = { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) } as const
    const response = await fetch(target, init).catch((error: Error) => error)
    if (response instanceof Error || tries === TRIES || ![429, 503].includes(response.status)) return response
    const waitSeconds = Number(response.headers.get('retry-after') ?? 1)
    await sleep(Math.min(waitSeconds, MAX_WAIT_SECONDS) * SECOND_MS)
  }
}

function errorText(status: number, json: unknown): string {
  const refusal = ErrorBody.safeParse(json)
  return refusal.success ? refusal.data.error_message : `status ${status}, not from a Weir gateway. Check the URL.`
}
