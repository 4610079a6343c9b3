// Files of another gateway's archive, by the links that it signs. Law: a file whose SHA-256 is another than was listed is not
// read.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { visible } from '../../core/visible.ts'
import { SourceRefusal } from './read-blocks.ts'
import { formOf, type PlannedFile } from './source-files.ts'
import { unpacked } from './unpacked.node.ts'

/** Links end after an hour: no more are made than are used soon. */
const PAGE = 100
const TIMEOUT_MS = 60_000

const File = z.looseObject({ key: z.string(), bytes: z.int(), sha256: z.string(), link: z.string() })
const Page = z.looseObject({
  data: z.looseObject({ files: z.array(File), next: z.string().nullable(), credits: z.number() }),
})
const Refusal = z.looseObject({ error_message: z.string() })

export interface OtherGateway {
  readonly url: string
  readonly key: string
  readonly chain: string
  /** Of first blocks, Unix ms. */
  readonly fromMs: number
  readonly toMs: number
}

/** Its segments of events, a day after the other. `paid` hears of the credits that links cost. */
export async function* gatewayFiles(from: OtherGateway, paid: (credits: number) => void): AsyncGenerator<PlannedFile> {
  for (let dayMs = from.fromMs; dayMs <= from.toMs; dayMs = (Math.floor(dayMs / DAY_MS) + 1) * DAY_MS) {
    const endMs = Math.min(from.toMs, (Math.floor(dayMs / DAY_MS) + 1) * DAY_MS - 1)
    for (let after: string | null = ''; after !== null; ) {
      const page: z.infer<typeof Page>['data'] = await filesOf(from, dayMs, endMs, after)
      paid(page.credits)
      for (const file of page.files) yield planned(from, file)
      after = page.next
    }
  }
}

function planned({ url }: OtherGateway, { key, bytes, sha256, link }: z.infer<typeof File>): PlannedFile {
  const form = formOf(key)
  if (form === null || typeof form === 'string')
    throw new SourceRefusal(`${visible(key)} of ${url} is no segment of events.`)
  return { path: key, bytes, form, open: () => unpacked(key, fetched(new URL(link, url), sha256)) }
}

async function* fetched(url: URL, sha256: string): AsyncGenerator<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`status ${response.status}`)
  const body = new Uint8Array(await response.arrayBuffer())
  if (createHash('sha256').update(body).digest('hex') !== sha256) throw new Error('its SHA-256 is not the listed one')
  yield body
}

async function filesOf({ url, key, chain }: OtherGateway, fromMs: number, toMs: number, after: string) {
  const asked = new URL(`/v1/${encodeURIComponent(chain)}/history/files`, url)
  const words = { from: String(fromMs), to: String(toMs), products: 'events', limit: String(PAGE) }
  asked.search = new URLSearchParams(after === '' ? words : { ...words, after }).toString()
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(asked, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: Error) => error,
  )
  if (response instanceof Error) throw new SourceRefusal(`No gateway answers at ${url} (${visible(response.message)}).`)
  const json: unknown = await response.json().catch(() => null)
  if (!response.ok) throw new SourceRefusal(`${url} refuses: ${visible(reasonOf(response.status, json))}`)
  const page = Page.safeParse(json)
  if (!page.success)
    throw new SourceRefusal(`${url} does not answer as a Weir gateway with an archive: check its address.`)
  return page.data.data
}

function reasonOf(status: number, json: unknown): string {
  const refusal = Refusal.safeParse(json)
  return refusal.success ? refusal.data.error_message : `status ${status}, not as a Weir gateway: check its address.`
}
