// Client of the admin API for the operator's commands. Errors are values with one message that uses the options of the
// command, such as `--grace` instead of `grace_seconds`. Invariant: a token is sent only to the gateway that it was given for.

import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import { INVALID_TOKEN_MESSAGE, TOKEN } from '../core/secret.ts'
import { visible } from '../core/visible.ts'
import { readRunning, runningFilePath } from './running-file.node.ts'
import { ADDRESS, readSecrets, SECRETS_FILE } from './secrets-file.node.ts'

interface Target {
  readonly url: string
  readonly token: string
  readonly tokenFrom: string
  /** True if the target is the running `npx weir demo`. */
  readonly isOwn: boolean
}

const TIMEOUT_MS = 15_000
/** Timeout for batches of lines. It is longer, because the gateway stores a batch before it responds. */
const PACKED_TIMEOUT_MS = 60_000
const ErrorBody = z.object({ error_message: z.string() })
const WarningBody = z.object({ warnings: z.array(z.string()) })
const hasAll = (json: unknown, needs: readonly PropertyKey[]) =>
  typeof json === 'object' && json !== null && needs.every((name) => name in json)

interface TargetOptions {
  readonly url?: string
  readonly token?: string
  /** The gateway that was deployed from the current folder. */
  readonly remote?: true
  readonly state: string
}

/** The target: `--url` with its token, the deployed gateway, or `running.json` of `--state`. */
export function targetOf(
  options: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
): Result<Target, string> {
  const target = namedTarget(options, env)
  if (!target.ok || TOKEN.test(target.value.token)) return target
  return err(`The admin token (${target.value.tokenFrom}) ${INVALID_TOKEN_MESSAGE}.`)
}

function namedTarget(
  { url, token, remote, state }: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
): Result<Target, string> {
  const given = token === undefined ? undefined : { token, tokenFrom: 'from --token' }
  if (url !== undefined) {
    if (given !== undefined) return ok({ url, isOwn: false, ...given })
    const token = env.ADMIN_TOKEN
    return token
      ? ok({ url, isOwn: false, token, tokenFrom: 'from ADMIN_TOKEN in the environment' })
      : err('--url needs the admin token of that gateway. Set ADMIN_TOKEN in the environment, or pass --token.')
  }
  if (remote) return deployedTarget()
  const dev = readRunning(state)
  if (!dev.ok) return dev
  const own = given ?? { token: dev.value.admin_token, tokenFrom: `from ${runningFilePath(state)}` }
  return ok({ url: dev.value.url, isOwn: true, ...own })
}

function deployedTarget(): Result<Target, string> {
  const { secrets, fault } = readSecrets('.')
  if (fault !== null) return err(fault)
  const { [ADDRESS]: url, ADMIN_TOKEN: token } = secrets ?? {}
  return url !== undefined && token !== undefined
    ? ok({ url, token, tokenFrom: `from ${SECRETS_FILE}`, isOwn: false })
    : err(
        `--remote: ${SECRETS_FILE} of the current folder names no gateway. Run "npx weir deploy" here, or pass --url.`,
      )
}

interface PackedError {
  readonly sentence: string
  readonly isPassing: boolean
  readonly isRefused: boolean
}

export class GatewayClient {
  readonly #target: Target
  readonly #names: CommandNames
  readonly #warn: (sentence: string) => void

  constructor(target: Target, names: CommandNames, warn: (sentence: string) => void) {
    this.#target = target
    this.#names = names
    this.#warn = warn
  }

  get url(): string {
    return this.#target.url
  }

  /** Sends one request. The response must have the fields that the command `needs`; its `warnings` are printed. */
  async request<T extends object>(
    method: string,
    path: string,
    needs: readonly (keyof T)[] = [],
    body?: object,
  ): Promise<Result<T, string>> {
    const reply = await this.#fetch(method, path, body)
    if (!reply.ok) return reply
    if (reply.value.status >= 300) return err(this.#refusal(reply.value))
    const { json } = reply.value
    for (const warning of WarningBody.safeParse(json).data?.warnings ?? []) this.#warn(visible(`warning: ${warning}`))
    return hasAll(json, needs)
      ? ok(json as T)
      : err(`${this.#target.url} does not respond like a Weir gateway. Check --url.`)
  }

  /** Posts compressed lines. `isPassing`: a retry may succeed; `isRefused`: the lines are invalid or too long. */
  async sendPacked<T extends object>(
    path: string,
    needs: readonly (keyof T)[],
    packed: Uint8Array<ArrayBuffer>,
  ): Promise<Result<T, PackedError>> {
    const reply = await this.#fetch('POST', path, packed)
    if (!reply.ok) return err({ sentence: reply.error, isPassing: true, isRefused: false })
    const { status, json } = reply.value
    const isPassing = status === 429 || status >= 500
    if (status >= 300)
      return err({ sentence: this.#refusal(reply.value), isPassing, isRefused: status === 400 || status === 413 })
    if (hasAll(json, needs)) return ok(json as T)
    const sentence = `${this.#target.url} does not respond like a Weir gateway. Check --url.`
    return err({ sentence, isPassing: false, isRefused: false })
  }

  /** Whether the resource exists. */
  async exists(path: string): Promise<Result<boolean, string>> {
    const reply = await this.#fetch('GET', path)
    if (!reply.ok) return reply
    const { status } = reply.value
    if (status < 300) return ok(true)
    return status === 404 && !isAdminDisabled(reply.value) ? ok(false) : err(this.#refusal(reply.value))
  }

  #refusal(reply: GatewayReply): string {
    const { url, tokenFrom } = this.#target
    return visible(withOptionNames(refusalText(url, reply, tokenFrom), this.#names))
  }

  async #fetch(
    method: string,
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
  ): Promise<Result<GatewayReply & { readonly json: unknown }, string>> {
    const { url, token, isOwn } = this.#target
    const isPacked = body instanceof Uint8Array
    // As path segments, "." and ".." would name a different resource.
    const dots = /\/(\.\.?)(?=[/?]|$)/.exec(path)?.[1]
    if (dots !== undefined) return err(`"${dots}" is not a valid name.`)
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

/** The error code of Node, from the socket if there is one. */
function errorCode({ name, cause }: Error): string {
  const { code, message } = (cause ?? {}) as { readonly code?: string; readonly message?: string }
  return code ?? message ?? name
}

export function accountPath(account: string): string {
  return `/admin/accounts/${encodeURIComponent(account)}`
}

/** Options whose name differs from their API field. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  idempotency_key: 'id',
  grace_seconds: 'grace',
  new_secret: 'new-secret',
  id: 'account',
}

/** Help text for arguments that identify a key. */
export const KEY_HELP = 'the key, its first 12 characters, or its hash'

/** The names of the options, without dashes, and arguments of a command. */
export interface CommandNames {
  readonly options: readonly string[]
  readonly arguments: readonly string[]
}

/** Rewrites an API error (`credits: must be …; label: …`) to name the options and arguments of the command. */
export function withOptionNames(refusal: string, names: CommandNames): string {
  return refusal
    .replaceAll(/(?<=^|; )[a-z_]+(?:\.\w+)*(?=: )/g, (path) => optionName(path, names))
    .replaceAll(/\b(?:idempotency_key|grace_seconds|new_secret)\b/g, (field) => optionName(field, names))
    .replaceAll(/\bnull\b/g, names.options.includes('terms') ? 'none' : 'null')
    .replaceAll(/"(from|to)"/g, (quoted, name) => (names.options.includes(name) ? `--${name}` : quoted))
    .replace('the SHA-256 of the key in hex, or its first 12 characters; never the key', KEY_HELP)
    .replace('send a time in Unix milliseconds', 'pass a later time in UTC; a day alone means 00:00 UTC')
    .replaceAll('GET /admin/plans', '"npx weir admin plan list"')
}

function optionName(path: string, { options, arguments: args }: CommandNames): string {
  const [field = '', part] = path.split('.')
  const name = OPTION_NAMES[field] ?? field
  if (args.includes(name)) return name.toUpperCase()
  if (options.includes(name)) return part !== undefined && name === 'terms' ? `--terms ${part}` : `--${name}`
  return options.includes('terms') && field !== 'body' ? `--terms ${field}` : path
}

/** Explains a failed request by its Node error code. `isOwn`: the gateway is the running `npx weir demo`. */
export function unreachableText(url: string, code: string, isOwn: boolean): string {
  const uncertain = 'The request may have been executed. Check before you retry.'
  if (/Timeout|TIMEDOUT|TIMEOUT/.test(code)) return `${url} did not respond in time. ${uncertain}`
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES/.test(code))
    return `${url} closed the connection (${code}). ${uncertain}`
  if (/CERT|TLS|SSL|EPROTO/.test(code))
    return `TLS to ${url} failed (${code}). Check --url, or set NODE_EXTRA_CA_CERTS to trust the issuer of its certificate.`
  const advice = isOwn ? 'Is "npx weir demo" running?' : 'Check --url and the network.'
  return `No gateway responds at ${url} (${code}). ${advice}`
}

/** A response; `message` is null if it is not an error of Weir. */
export interface GatewayReply {
  readonly status: number
  readonly message: string | null
}

/** Whether the gateway has no admin API at all. */
export function isAdminDisabled({ status, message }: GatewayReply): boolean {
  return status === 404 && message !== null && message.startsWith('This endpoint')
}

/** The message for an error response; `tokenFrom` says where the token came from. */
export function refusalText(url: string, reply: GatewayReply, tokenFrom: string): string {
  const { status, message } = reply
  if (message === null) return `${url} responded with status ${status}, but not like a Weir gateway. Check --url.`
  if (status === 401)
    return `The admin token is wrong (${tokenFrom}). Use the ADMIN_TOKEN of that gateway, set with "npx weir deploy --secret ADMIN_TOKEN".`
  if (isAdminDisabled(reply))
    return `${url} has no admin API: its ADMIN_TOKEN is missing or shorter than 32 characters, or its version is older than this command.`
  return message
}
