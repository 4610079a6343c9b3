// Files of a bucket of S3 whose owner has the reader pay, such as s3://hl-mainnet-node-data/node_fills_by_block. Law: nothing
// is fetched but lists until who pays has seen the bill.

import { AwsClient } from 'aws4fetch'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import type { SourceFile } from './source-files.ts'
import { unpacked } from './unpacked.node.ts'

/** Where the exchange's bucket lies. */
const REGION = 'ap-northeast-1'
/** Of 1,000 files each: twenty years of hours. */
const LISTS_MOST = 200
/** What fetching costs who fetches, by Amazon's list prices of November 2026. */
const GIB = 2 ** 30
const DOLLARS_PER_GIB = 0.09
/** 1,000 GETs, and 1,000 lists. */
const DOLLARS_PER_GETS = 0.0004
const DOLLARS_PER_LISTS = 0.005
const PAYER = { 'x-amz-request-payer': 'requester' }
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

type Env = Readonly<Record<string, string | undefined>>

export interface Listed {
  readonly files: SourceFile[]
  readonly lists: number
}

/** The files below `s3://BUCKET/PREFIX`; or why they cannot be listed. */
export async function bucketFiles(source: string, env: Env): Promise<Result<Listed, string>> {
  const [, name, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(source) ?? []
  if (name === undefined) return err(`${source} is no bucket: write s3://BUCKET/PREFIX.`)
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env
  if (!accessKeyId || !secretAccessKey)
    return err(`Who fetches from ${source} pays: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.`)
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
  const bucket = new Bucket(name, new AwsClient({ ...keys, service: 's3', retries: 0 }), env)
  const files: SourceFile[] = []
  for (let lists = 1, token: string | undefined; lists <= LISTS_MOST; lists++) {
    const page = await bucket.list(prefix, token)
    if (!page.ok) return err(`${source} ${page.error}`)
    for (const { key, bytes } of page.value.objects)
      files.push({ path: key, bytes, open: () => unpacked(key, bucket.read(key)) })
    token = page.value.next
    if (token === undefined) return ok({ files, lists })
  }
  return err(
    `${source} holds more than ${LISTS_MOST},000 files: name a prefix such as s3://${name}/node_fills_by_block.`,
  )
}

interface Page {
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

  async list(prefix: string, token: string | undefined): Promise<Result<Page, string>> {
    const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) }
    const response = await this.#get('', query).catch((error: Error) => error)
    if (response instanceof Error) return err(`cannot be reached (${visible(response.message)}).`)
    const text = await response.text()
    if (!response.ok) return err(refusal(response.status, text))
    const objects = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => {
      return { key: tagged(one, 'Key') ?? '', bytes: Number(tagged(one, 'Size')) }
    })
    return ok({ objects, next: tagged(text, 'NextContinuationToken') })
  }

  async *read(key: string): AsyncGenerator<Uint8Array> {
    const response = await this.#get(key, {})
    if (!response.ok) throw new Error(refusal(response.status, await response.text()))
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

function tagged(text: string, name: string): string | undefined {
  const [, inside] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(text) ?? []
  return inside?.replaceAll(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole)
}

function refusal(status: number, text: string): string {
  const code = visible(tagged(text, 'Code') ?? 'no reason')
  const fix =
    status === 403
      ? 'the AWS keys of the environment must be right, and their user may read buckets of others (s3:GetObject, s3:ListBucket)'
      : status === 404
        ? 'check its name'
        : 'try again'
  return `is refused by S3 (${status}, ${code}): ${fix}.`
}

/** The bill, before anything of it is fetched. */
export function billText(files: number, bytes: number, lists: number): string {
  const dollars =
    (bytes / GIB) * DOLLARS_PER_GIB + (files / 1_000) * DOLLARS_PER_GETS + (lists / 1_000) * DOLLARS_PER_LISTS
  const amount = dollars < 0.01 ? 'less than $0.01' : `about $${dollars.toFixed(2)}`
  return `${files} files, ${(bytes / GIB).toFixed(2)} GiB: ${amount} on the bill of your AWS account (requester pays; egress to the Internet at $${DOLLARS_PER_GIB} a GiB, and each request).`
}
