// Lists and opens the files of a source: a local folder; a requester-pays S3 bucket such as
// s3://hl-mainnet-node-data/node_fills_by_block; or the archive of a different gateway, through signed links. Invariants: until
// the user has accepted the cost, only listings of a bucket are fetched.

import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { readBoundedText } from '../../core/bounded-text.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import { decompress } from './decompress.node.ts'
import {
  fetchVerified,
  type HistoryFile,
  type HistoryGateway,
  type HistoryRange,
  historyFiles,
} from './gateway-history.node.ts'
import { SourceError } from './read-blocks.ts'
import { formOf, type PlannedFile, type SourceFile } from './source-files.ts'

/** Region of the exchange's bucket. */
const REGION = 'ap-northeast-1'
/** A list contains 1,000 files, so this limit is enough for twenty years of hourly files. */
const LISTS_MAX = 200
/** Maximum size of a list, whose keys have at most 1,024 bytes. */
const LIST_BYTES_MAX = 8 * 1024 * 1024
/** Prices of Amazon S3 for the requester, November 2026. */
const GIB = 2 ** 30
const DOLLARS_PER_GIB = 0.09
/** Per 1,000 GET and per 1,000 LIST requests. */
const DOLLARS_PER_GETS = 0.0004
const DOLLARS_PER_LISTS = 0.005
const PAYER = { 'x-amz-request-payer': 'requester' }
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

type Env = Readonly<Record<string, string | undefined>>

/** `lists`: number of requests that a bucket charges for. */
interface Listing {
  readonly files: readonly SourceFile[]
  readonly lists: number
}

/** Lists each folder or bucket once. A list of a bucket costs money, and a list of a folder takes many system calls. */
export class SourceLists {
  readonly #listed = new Map<string, Promise<Result<Listing, string>>>()

  /** All files of a folder or under `s3://BUCKET/PREFIX`, or why they cannot be listed. */
  of(source: string, env: Env): Promise<Result<Listing, string>> {
    const listed =
      this.#listed.get(source) ?? (source.startsWith('s3://') ? bucketFiles(source, env) : folderFiles(source))
    this.#listed.set(source, listed)
    return listed
  }
}

/** The files under `s3://BUCKET/PREFIX`, or why they cannot be listed. */
async function bucketFiles(source: string, env: Env): Promise<Result<Listing, string>> {
  const [, name, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(source) ?? []
  if (name === undefined) return err(`${source} is not a bucket. Write s3://BUCKET/PREFIX.`)
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env
  if (!accessKeyId || !secretAccessKey)
    return err(
      `Downloads from ${source} are billed to your AWS account. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.`,
    )
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
  const bucket = new Bucket(name, new AwsClient({ ...keys, service: 's3', retries: 0 }), env)
  const files: SourceFile[] = []
  for (let lists = 1, token: string | undefined; lists <= LISTS_MAX; lists++) {
    const page = await bucket.list(prefix, token)
    if (!page.ok) return err(`${source} ${page.error}`)
    for (const { key, bytes } of page.value.objects)
      files.push({ path: key, bytes, open: () => decompress(key, bucket.read(key)) })
    token = page.value.next
    if (token === undefined) return ok({ files, lists })
  }
  return err(
    `${source} holds more than ${LISTS_MAX},000 files. Pass a prefix such as s3://${name}/node_fills_by_block.`,
  )
}

interface BucketPage {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[]
  readonly next: string | undefined
}

class Bucket {
  readonly #name: string
  readonly #aws: AwsClient
  readonly #endpoint: string | undefined
  #region: string

  constructor(name: string, aws: AwsClient, env: Env) {
    this.#name = name
    this.#aws = aws
    this.#endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL
    this.#region = env.AWS_REGION ?? REGION
  }

  async list(prefix: string, token: string | undefined): Promise<Result<BucketPage, string>> {
    const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) }
    const listed = await this.#text(query).catch((error: Error) => error)
    if (listed instanceof Error) return err(`cannot be listed (${visible(listed.message)}).`)
    const { status, text } = listed
    if (status !== 200) return err(s3ErrorText(status, text))
    const objects = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => {
      return { key: xmlText(one, 'Key') ?? '', bytes: Number(xmlText(one, 'Size')) }
    })
    return ok({ objects, next: xmlText(text, 'NextContinuationToken') })
  }

  async #text(query: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly text: string }> {
    const { status, body } = await this.#get('', query)
    const read = await readBoundedText(body, LIST_BYTES_MAX)
    if ('refused' in read) throw new Error(`its list is ${read.refused.replaceAll('_', ' ')}`)
    return { status, text: read.text }
  }

  async *read(key: string): AsyncGenerator<Uint8Array> {
    const response = await this.#get(key, {})
    if (!response.ok) throw new Error(s3ErrorText(response.status, await response.text()))
    yield* response.body ?? []
  }

  async #get(key: string, query: Readonly<Record<string, string>>): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const region = this.#region
      const response = await this.#aws.fetch(this.#url(key, query), { headers: PAYER, aws: { region } })
      const own = response.headers.get('x-amz-bucket-region')
      if (response.ok || own === null || own === region || tries > 0) return response
      this.#region = own
    }
  }

  #url(key: string, query: Readonly<Record<string, string>>): string {
    const path = key.split('/').map(encodeURIComponent).join('/')
    const root = this.#endpoint
      ? `${this.#endpoint.replace(/\/$/, '')}/${this.#name}`
      : `https://${this.#name}.s3.${this.#region}.amazonaws.com`
    return `${root}/${path}?${new URLSearchParams(query)}`
  }
}

function xmlText(text: string, name: string): string | undefined {
  const [, inside] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(text) ?? []
  return inside?.replaceAll(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole)
}

function s3ErrorText(status: number, text: string): string {
  const code = visible(xmlText(text, 'Code') ?? 'no reason')
  const fix =
    status === 403
      ? 'Check the AWS keys in the environment; their user needs s3:GetObject and s3:ListBucket.'
      : status === 404
        ? 'Check the bucket name.'
        : 'Try again.'
  return `was rejected by S3 (${status}, ${code}). ${fix}`
}

/** The estimated bill, shown before anything is fetched. */
export function billText(files: number, bytes: number, lists: number): string {
  const dollars =
    (bytes / GIB) * DOLLARS_PER_GIB + (files / 1_000) * DOLLARS_PER_GETS + (lists / 1_000) * DOLLARS_PER_LISTS
  const amount = dollars < 0.01 ? 'less than $0.01' : `about $${dollars.toFixed(2)}`
  return `${files} files, ${(bytes / GIB).toFixed(2)} GiB: ${amount} billed to your AWS account (requester pays: $${DOLLARS_PER_GIB} per GiB of egress, plus requests).`
}

/** Maximum number of files in a folder, which is enough for years of hourly or per-minute files. */
const FILES_MAX = 2_000_000

/** All files in a folder, or why it cannot be read. */
async function folderFiles(folder: string): Promise<Result<Listing, string>> {
  const root = resolve(folder)
  const files: SourceFile[] = []
  try {
    if (!(await stat(root)).isDirectory()) return err(`${folder} is a file. Pass the folder that contains it.`)
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() && !entry.isSymbolicLink()) continue
      if (files.length === FILES_MAX)
        return err(`${folder} holds more than ${FILES_MAX.toLocaleString('en')} files. Pass a subfolder.`)
      const path = join(entry.parentPath, entry.name)
      files.push({ path, bytes: 0, open: () => decompress(path, createReadStream(path)) })
    }
  } catch (error) {
    return err(unreadableText(folder, (error as NodeJS.ErrnoException).code))
  }
  return ok({ files, lists: 0 })
}

function unreadableText(folder: string, code = 'unknown'): string {
  if (code === 'ENOENT')
    return `${folder} does not exist. Pass a folder, s3://BUCKET/PREFIX, or the https:// URL of a gateway.`
  return `${folder} cannot be read (${code}). Give this user read access.`
}

/** The event segments of a different gateway whose first block lies in the range. `onCost` receives the credits charged for links. */
export async function* gatewayFiles(
  from: HistoryGateway,
  range: HistoryRange,
  onCost: (credits: number) => void,
): AsyncGenerator<PlannedFile> {
  for await (const file of historyFiles(from, 'events', range, onCost)) yield plannedFile(from, file)
}

function plannedFile(from: HistoryGateway, file: HistoryFile): PlannedFile {
  const { key, bytes } = file
  const form = formOf(key)
  if (form?.kind !== 'archive') throw new SourceError(`${visible(key)} of ${from.url} is not an event segment.`)
  return { path: key, bytes, form, open: () => decompress(key, fetched(from, file)) }
}

async function* fetched(from: HistoryGateway, file: HistoryFile): AsyncGenerator<Uint8Array> {
  yield await fetchVerified(from, file)
}
