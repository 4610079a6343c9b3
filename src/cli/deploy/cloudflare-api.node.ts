// Cloudflare's API for one login: what an account has, and what a deploy creates in it. Each call takes a fraction of the
// time in which wrangler starts, and an error has a code. Workers themselves are uploaded by wrangler.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import { DeployError } from './deploy-error.ts'
import type { Store } from './stores.ts'

const BASE = 'https://api.cloudflare.com/client/v4'
const TIMEOUT_MS = 60_000
/** The most that every list allows. */
const PAGE = 50
/** Codes of errors. */
const NO_WORKER = 10_007
const NO_BUCKET = 10_006
const R2_IS_OFF = 10_042
const TOO_MANY_DATABASES = 7_406

const Envelope = z.looseObject({
  success: z.boolean(),
  errors: z.array(z.looseObject({ code: z.number(), message: z.string() })).default([]),
  result: z.unknown(),
  result_info: z.looseObject({ total_count: z.number().optional() }).nullish(),
})
const Named = z.array(z.looseObject({ name: z.string() }))
const Accounts = z.array(z.looseObject({ id: z.string(), name: z.string() }))
const Databases = z.array(z.looseObject({ uuid: z.string(), name: z.string() }))
const Namespaces = z.array(z.looseObject({ id: z.string(), title: z.string() }))
const Bucket = z.looseObject({ name: z.string(), location: z.string().optional() })
const Created = z.looseObject({ uuid: z.string().optional(), id: z.string().optional() })
const QueryResults = z.array(
  z.looseObject({
    results: z.array(z.record(z.string(), z.unknown())).default([]),
    meta: z.looseObject({ served_by_region: z.string().optional() }).optional(),
  }),
)
export type QueryResult = z.infer<typeof QueryResults>[number]
export type Account = z.infer<typeof Accounts>[number]

export interface ApiError {
  readonly status: number
  readonly code: number | null
  readonly text: string
}

/** The headers of a login: an API token, an OAuth token of `wrangler login`, or a global API key. */
export type LoginHeaders = Readonly<Record<string, string>>

export class CloudflareApi {
  readonly #base: string
  readonly #headers: LoginHeaders

  constructor(headers: LoginHeaders, base = BASE) {
    this.#headers = headers
    this.#base = base
  }

  /** The accounts of the login. */
  async accounts(): Promise<readonly Account[]> {
    return this.#all('/accounts', Accounts)
  }

  /** Throws if the account cannot be read. */
  async databases(account: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.#all(`/accounts/${account}/d1/database`, Databases)
    return new Map(found.map(({ uuid, name }) => [uuid, name]))
  }

  /** Titles by id. */
  async namespaces(account: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.#all(`/accounts/${account}/storage/kv/namespaces`, Namespaces)
    return new Map(found.map(({ id, title }) => [id, title]))
  }

  /** Null if the bucket does not exist. */
  async bucket(account: string, name: string): Promise<z.infer<typeof Bucket> | null> {
    const found = await this.#ask('GET', `/accounts/${account}/r2/buckets/${name}`, Bucket)
    if (found.ok) return found.value
    if (found.error.status === 404 || found.error.code === NO_BUCKET) return null
    throw refusalOf(found.error, account)
  }

  /** The id of the new store. `location`: where it is created; null: Cloudflare chooses. */
  async create(account: string, { kind, name }: Store, location: string | null): Promise<string> {
    const at = (field: string) => (location === null ? {} : { [field]: location })
    const [path, body] = {
      D1: ['d1/database', { name, ...at('primary_location_hint') }],
      KV: ['storage/kv/namespaces', { title: name }],
      R2: ['r2/buckets', { name, ...at('locationHint') }],
    }[kind] as [string, object]
    const created = await this.#ask('POST', `/accounts/${account}/${path}`, Created, body)
    if (!created.ok) throw refusalOf(created.error, account, `${kind} ${name} was not created`)
    return created.value.uuid ?? created.value.id ?? name
  }

  /** Names of the secrets of a Worker. Null if they cannot be read. */
  async secretNames(account: string, worker: string): Promise<readonly string[] | 'no worker' | null> {
    const found = await this.#ask('GET', `/accounts/${account}/workers/scripts/${worker}/secrets`, Named)
    if (found.ok) return found.value.map(({ name }) => name)
    return found.error.code === NO_WORKER || found.error.status === 404 ? 'no worker' : null
  }

  async putSecret(account: string, worker: string, name: string, text: string): Promise<void> {
    const body = { name, text, type: 'secret_text' }
    const put = await this.#ask('PUT', `/accounts/${account}/workers/scripts/${worker}/secrets`, z.unknown(), body)
    if (!put.ok) throw refusalOf(put.error, account, `The secret ${name} of ${worker} was not set`)
  }

  /** The result of each statement. */
  async query(account: string, database: string, sql: string): Promise<Result<readonly QueryResult[], string>> {
    const answer = await this.#ask('POST', `/accounts/${account}/d1/database/${database}/query`, QueryResults, { sql })
    return answer.ok ? answer : err(answer.error.text)
  }

  /** Reads a list to its end, also if its pages are shorter than requested. */
  async #all<T>(path: string, schema: z.ZodType<readonly T[]>): Promise<readonly T[]> {
    const found = new Map<string, T>()
    for (let page = 1; ; page++) {
      const answer = await this.#send('GET', `${path}?per_page=${PAGE}&page=${page}`, schema)
      if (!answer.ok) throw refusalOf(answer.error, accountIn(path))
      const { value, total } = answer.value
      const before = found.size
      for (const one of value) found.set(JSON.stringify(one), one)
      const isLast = total === null ? value.length < PAGE : found.size >= total
      if (isLast || found.size === before) return [...found.values()]
    }
  }

  async #ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<Result<T, ApiError>> {
    const answer = await this.#send(method, path, schema, body)
    return answer.ok ? ok(answer.value.value) : answer
  }

  /** `total`: the length of a list with pages, if the API says it. Throws if the login lacks the right. */
  async #send<T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    body?: object,
  ): Promise<Result<{ readonly value: T; readonly total: number | null }, ApiError>> {
    const answer = await this.#exchange(method, path, schema, body)
    if (!answer.ok && (answer.error.status === 401 || answer.error.status === 403))
      throw refusalOf(answer.error, accountIn(path))
    return answer
  }

  async #exchange<T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    body?: object,
  ): Promise<Result<{ readonly value: T; readonly total: number | null }, ApiError>> {
    const fail = (status: number, code: number | null, text: string) => err({ status, code, text: visible(text) })
    try {
      const response = await fetch(this.#base + path, {
        method,
        headers: { ...this.#headers, 'content-type': 'application/json' },
        // `fetch` would send x-auth-key to another host.
        redirect: 'error',
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const envelope = Envelope.safeParse(parseJson(await response.text()))
      if (!envelope.success) return fail(response.status, null, `Cloudflare's API answered ${response.status}`)
      const { success, errors, result, result_info: info } = envelope.data
      const [first] = errors
      if (!success)
        return fail(
          response.status,
          first?.code ?? null,
          errors.map((one) => `${one.message} (code ${one.code})`).join('; ') ||
            `Cloudflare's API answered ${response.status} without a reason`,
        )
      const read = schema.safeParse(result)
      return read.success
        ? ok({ value: read.data, total: info?.total_count ?? null })
        : fail(response.status, null, `Cloudflare's API answered ${path} in an unknown form`)
    } catch (error) {
      const { message, cause } = error as Error
      return fail(0, null, `Cloudflare's API did not answer (${(cause as Error | undefined)?.message || message})`)
    }
  }
}

const accountIn = (path: string): string => /^\/accounts\/([^/?]+)/.exec(path)?.[1] ?? ''

const LOGIN = 'Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token that may edit Workers, D1, KV and R2.'

function refusalOf({ status, code, text }: ApiError, account: string, what = ''): DeployError {
  const sentence = `${what === '' ? '' : `${what}: `}${text}.`
  const plans = `https://dash.cloudflare.com/${account}/workers/plans`
  if (code === R2_IS_OFF)
    return new DeployError(
      `${sentence} Turn on R2 at https://dash.cloudflare.com/${account}/r2, or set archive = false in weir.toml. Then run the same command again.`,
    )
  if (code === TOO_MANY_DATABASES || isPlanError(text))
    return new DeployError(
      `${sentence} The account needs the Workers Paid plan: ${plans}. Then run the same command again.`,
    )
  // Last, because a plan or a product that is off is refused with 403 too.
  if (status === 401 || status === 403) return new DeployError(`The login was refused: ${text}. ${LOGIN}`)
  return new DeployError(`${sentence} Fix the cause and run the same command again.`)
}

/** Whether a message of Cloudflare asks for a paid plan. */
export function isPlanError(text: string): boolean {
  return /paid plan|workers\/plans|upgrade (?:to|your)/i.test(text)
}

export const NOT_LOGGED_IN = `Not logged in to Cloudflare. ${LOGIN}`
