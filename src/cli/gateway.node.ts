// The admin API of a running gateway, as the operator's commands call it. Answers are values: one sentence in the command's
// own words where it refuses or nobody is there, so that whoever typed `--grace` is not told of `grace_seconds`. Invariant: a
// token goes to the gateway that it was given for.

import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import { INVALID_TOKEN_MESSAGE, TOKEN } from '../core/secret.ts'
import { visible } from '../core/visible.ts'
import { devFilePath, readDevFile } from './dev-file.node.ts'

interface Target {
  readonly url: string
  readonly token: string
  readonly tokenFrom: string
  /** It is that of `npm start`. */
  readonly isOwn: boolean
}

const TIMEOUT_MS = 15_000
/** Of many lines, which are written before the answer. */
const PACKED_TIMEOUT_MS = 60_000
const ErrorBody = z.object({ error_message: z.string() })
const WarningBody = z.object({ warnings: z.array(z.string()) })
const hasAll = (json: unknown, needs: readonly PropertyKey[]) =>
  typeof json === 'object' && json !== null && needs.every((name) => name in json)

interface TargetOptions {
  readonly url?: string
  readonly token?: string
  readonly state: string
}

/** Where to ask: `--url` with its token, or what `dev.json` of `--state` says. */
export function targetOf(
  said: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
): Result<Target, string> {
  const target = namedTarget(said, env)
  if (!target.ok || TOKEN.test(target.value.token)) return target
  return err(`The admin token (${target.value.tokenFrom}) ${INVALID_TOKEN_MESSAGE}.`)
}

function namedTarget(
  { url, token, state }: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
): Result<Target, string> {
  const said = token === undefined ? undefined : { token, tokenFrom: 'from --token' }
  if (url !== undefined) {
    if (said !== undefined) return ok({ url, isOwn: false, ...said })
    const token = env.ADMIN_TOKEN
    return token
      ? ok({ url, isOwn: false, token, tokenFrom: 'from ADMIN_TOKEN in the environment' })
      : err('--url needs the admin token of its gateway: set ADMIN_TOKEN in the environment, or say --token.')
  }
  const dev = readDevFile(state)
  if (!dev.ok) return dev
  const own = said ?? { token: dev.value.admin_token, tokenFrom: `from ${devFilePath(state)}` }
  return ok({ url: dev.value.url, isOwn: true, ...own })
}

export class GatewayClient {
  readonly #target: Target
  readonly #names: CommandNames
  readonly #warn: (sentence: string) => void

  constructor(target: Target, taken: CommandNames, warn: (sentence: string) => void) {
    this.#target = target
    this.#names = taken
    this.#warn = warn
  }

  /** One call. The answer has what the command `needs`, and stays as it came; its `warnings` are said. */
  async request<T extends object>(
    method: string,
    path: string,
    needs: readonly (keyof T)[] = [],
    body?: object,
  ): Promise<Result<T, string>> {
    const heard = await this.#fetch(method, path, body)
    if (!heard.ok) return heard
    if (heard.value.status >= 300) return err(this.#refusal(heard.value))
    const { json } = heard.value
    for (const warning of WarningBody.safeParse(json).data?.warnings ?? []) this.#warn(visible(`warning: ${warning}`))
    return hasAll(json, needs) ? ok(json as T) : err(`${this.#target.url} does not answer as a Weir gateway.`)
  }

  /** Posts packed lines. Passing: the same may be taken later. */
  async sendPacked<T extends object>(
    path: string,
    needs: readonly (keyof T)[],
    packed: Uint8Array<ArrayBuffer>,
  ): Promise<Result<T, { readonly sentence: string; readonly isPassing: boolean }>> {
    const heard = await this.#fetch('POST', path, packed)
    if (!heard.ok) return err({ sentence: heard.error, isPassing: true })
    const { status, json } = heard.value
    const isPassing = status === 429 || status >= 500
    if (status >= 300) return err({ sentence: this.#refusal(heard.value), isPassing })
    if (hasAll(json, needs)) return ok(json as T)
    return err({ sentence: `${this.#target.url} does not answer as a Weir gateway.`, isPassing: false })
  }

  /** Whether there is something at the path. */
  async exists(path: string): Promise<Result<boolean, string>> {
    const heard = await this.#fetch('GET', path)
    if (!heard.ok) return heard
    const { status } = heard.value
    if (status < 300) return ok(true)
    return status === 404 && !isAdminDisabled(heard.value) ? ok(false) : err(this.#refusal(heard.value))
  }

  #refusal(heard: GatewayReply): string {
    const { url, tokenFrom } = this.#target
    return visible(withOptionNames(refusalText(url, heard, tokenFrom), this.#names))
  }

  async #fetch(
    method: string,
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
  ): Promise<Result<GatewayReply & { readonly json: unknown }, string>> {
    const { url, token, isOwn } = this.#target
    const isPacked = body instanceof Uint8Array
    // As a part of a path they name another one.
    const dots = /\/(\.\.?)(?=[/?]|$)/.exec(path)?.[1]
    if (dots !== undefined) return err(`"${dots}" is no name of anything.`)
    try {
      const response = await fetch(new URL(path, url), {
        method,
        redirect: 'manual',
        headers: { authorization: `Bearer ${token}`, 'content-type': `application/${isPacked ? 'gzip' : 'json'}` },
        ...(body === undefined ? {} : { body: isPacked ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(isPacked ? PACKED_TIMEOUT_MS : TIMEOUT_MS),
      })
      const json = parseJson(await response.text())
      return ok({ status: response.status, json, message: ErrorBody.safeParse(json).data?.error_message ?? null })
    } catch (error) {
      return err(unreachableText(url, errorCode(error as Error), isOwn))
    }
  }
}

/** What Node calls the reason: of the socket where there is one. */
function errorCode({ name, cause }: Error): string {
  const { code, message } = (cause ?? {}) as { readonly code?: string; readonly message?: string }
  return code ?? message ?? name
}

/** Its path, whatever was typed for its id. */
export function accountPath(account: string): string {
  return `/admin/accounts/${encodeURIComponent(account)}`
}

/** How fields are called here where the API has another name. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  idempotency_key: 'id',
  grace_seconds: 'grace',
  new_secret: 'new-secret',
  id: 'account',
}

/** How a key is named here. */
export const KEY_HELP = 'the key, its first 12 characters or its hash'

/** What a command takes: names of its options, without dashes, and of its words. */
export interface CommandNames {
  readonly options: readonly string[]
  readonly arguments: readonly string[]
}

/** A refusal (`credits: must be …; label: …`) that names options and words of the command. */
export function withOptionNames(refusal: string, taken: CommandNames): string {
  return refusal
    .replaceAll(/(?<=^|; )[a-z_]+(?:\.\w+)*(?=: )/g, (path) => optionName(path, taken))
    .replaceAll(/\b(?:idempotency_key|grace_seconds|new_secret)\b/g, (field) => optionName(field, taken))
    .replaceAll(/\bnull\b/g, taken.options.includes('terms') ? 'none' : 'null')
    .replaceAll(/"(from|to)"/g, (quoted, name) => (taken.options.includes(name) ? `--${name}` : quoted))
    .replace('the SHA-256 of the key in hex, or its first 12 characters; never the key', KEY_HELP)
    .replace('send a time in Unix milliseconds', 'say a later time in UTC; a day alone is its 00:00Z')
    .replaceAll('GET /admin/plans', '"npm run admin -- plan list"')
}

function optionName(path: string, { options, arguments: names }: CommandNames): string {
  const [field = '', part] = path.split('.')
  const name = OPTION_NAMES[field] ?? field
  if (names.includes(name)) return name.toUpperCase()
  if (options.includes(name)) return part !== undefined && name === 'terms' ? `--terms ${part}` : `--${name}`
  return options.includes('terms') && field !== 'body' ? `--terms ${field}` : path
}

/** Why nothing came: `code` is what Node calls it; `isOwn`: the gateway is that of `npm start`. */
export function unreachableText(url: string, code: string, isOwn: boolean): string {
  const perhaps = 'What was asked may be done all the same: look before you ask again.'
  if (/Timeout|TIMEDOUT|TIMEOUT/.test(code)) return `${url} did not answer in time. ${perhaps}`
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES/.test(code)) return `${url} broke off (${code}). ${perhaps}`
  if (/CERT|TLS|SSL|EPROTO/.test(code))
    return `TLS to ${url} fails (${code}): check --url, or have Node trust its issuer with NODE_EXTRA_CA_CERTS.`
  const advice = isOwn ? 'is "npm start" running?' : 'check --url and the network.'
  return `No gateway answers at ${url} (${code}): ${advice}`
}

/** A response: `message` is null where it is no refusal of Weir's. */
export interface GatewayReply {
  readonly status: number
  readonly message: string | null
}

/** The gateway has no operator's API at all. */
export function isAdminDisabled({ status, message }: GatewayReply): boolean {
  return status === 404 && message !== null && message.startsWith('This endpoint')
}

/** What a refusal says; `tokenFrom`: where the token came from. */
export function refusalText(url: string, heard: GatewayReply, tokenFrom: string): string {
  const { status, message } = heard
  if (message === null) return `${url} answered ${status}, but not as a Weir gateway: check --url.`
  if (status === 401)
    return `The admin token is wrong (${tokenFrom}): it must be the ADMIN_TOKEN of that gateway, which "npm run wrangler -- secret put ADMIN_TOKEN" sets.`
  if (isAdminDisabled(heard))
    return `${url} has no /admin: its ADMIN_TOKEN is unset or shorter than 32 characters, or it is older than this command.`
  return message
}
