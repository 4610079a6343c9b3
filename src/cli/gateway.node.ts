// The admin API of a running gateway, as the operator's commands call it. Answers are values: a sentence in the
// command's own words where it refuses or nobody is there. Law: a token goes to the gateway that it was given for.

import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { NO_TOKEN, TOKEN } from '../core/secret.ts'
import { visible } from '../core/visible.ts'
import { type Heard, inOptions, isClosed, refused, type Taken, unreachable } from './api-words.ts'
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
const Refusal = z.object({ error_message: z.string() })
const Warned = z.object({ warnings: z.array(z.string()) })

interface Said {
  readonly url?: string
  readonly token?: string
  readonly state: string
}

/** Where to ask: `--url` with its token, or what `dev.json` of `--state` says. */
export function targetOf(said: Said, env: Readonly<Record<string, string | undefined>>): Result<Target, string> {
  const target = namedTarget(said, env)
  if (!target.ok || TOKEN.test(target.value.token)) return target
  return err(`The admin token (${target.value.tokenFrom}) ${NO_TOKEN}.`)
}

function namedTarget(
  { url, token, state }: Said,
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

export class Gateway {
  readonly #target: Target
  readonly #taken: Taken
  readonly #warn: (sentence: string) => void

  constructor(target: Target, taken: Taken, warn: (sentence: string) => void) {
    this.#target = target
    this.#taken = taken
    this.#warn = warn
  }

  /** One call. The answer is checked by `schema` and stays as it came; its `warnings` are said. */
  async ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<Result<T, string>> {
    const heard = await this.#send(method, path, body)
    if (!heard.ok) return heard
    if (heard.value.status >= 300) return err(this.#refusal(heard.value))
    const { json } = heard.value
    for (const warning of Warned.safeParse(json).data?.warnings ?? []) this.#warn(visible(`warning: ${warning}`))
    return schema.safeParse(json).success
      ? ok(json as T)
      : err(`${this.#target.url} does not answer as a Weir gateway.`)
  }

  /** Posts packed lines. Passing: the same may be taken later. */
  async send<T>(
    path: string,
    schema: z.ZodType<T>,
    packed: Uint8Array<ArrayBuffer>,
  ): Promise<Result<T, { readonly sentence: string; readonly isPassing: boolean }>> {
    const heard = await this.#send('POST', path, packed)
    if (!heard.ok) return err({ sentence: heard.error, isPassing: true })
    const { status, json } = heard.value
    const isPassing = status === 429 || status >= 500
    if (status >= 300) return err({ sentence: this.#refusal(heard.value), isPassing })
    const answer = schema.safeParse(json)
    if (answer.success) return ok(answer.data)
    return err({ sentence: `${this.#target.url} does not answer as a Weir gateway.`, isPassing: false })
  }

  /** Whether there is something at the path. */
  async has(path: string): Promise<Result<boolean, string>> {
    const heard = await this.#send('GET', path)
    if (!heard.ok) return heard
    const { status } = heard.value
    if (status < 300) return ok(true)
    return status === 404 && !isClosed(heard.value) ? ok(false) : err(this.#refusal(heard.value))
  }

  #refusal(heard: Heard): string {
    const { url, tokenFrom } = this.#target
    return visible(inOptions(refused(url, heard, tokenFrom), this.#taken))
  }

  async #send(
    method: string,
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
  ): Promise<Result<Heard & { readonly json: unknown }, string>> {
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
      const json = jsonIn(await response.text())
      return ok({ status: response.status, json, message: Refusal.safeParse(json).data?.error_message ?? null })
    } catch (error) {
      return err(unreachable(url, codeOf(error as Error), isOwn))
    }
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What Node calls the reason: of the socket where there is one. */
function codeOf({ name, cause }: Error): string {
  const { code, message } = (cause ?? {}) as { readonly code?: string; readonly message?: string }
  return code ?? message ?? name
}
