// The admin API of a running gateway, as the operator's commands call it. Answers are values: a sentence where it
// refuses or nobody is there.

import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { DEFAULT_STATE, readDevFile } from './dev-file.node.ts'

/** Where the admin API is. */
export interface AdminTarget {
  readonly url: string
  readonly token: string
}

const TIMEOUT_MS = 15_000
const Refusal = z.object({ error_message: z.string() })

/** `--url` and `--token`, or what `dev.json` of `--state` says. */
export function adminTarget(values: {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly state?: string | undefined
}): Result<AdminTarget, string> {
  if (values.url !== undefined && values.token !== undefined) return ok({ url: values.url, token: values.token })
  const dev = readDevFile(values.state ?? DEFAULT_STATE)
  if (!dev.ok) return dev
  return ok({ url: values.url ?? dev.value.url, token: values.token ?? dev.value.admin_token })
}

/** One call; the answer is parsed with `schema`. */
export async function callAdmin<T>(
  { url, token }: AdminTarget,
  method: string,
  path: string,
  schema: z.ZodType<T>,
  body?: object,
): Promise<Result<T, string>> {
  let response: Response
  let json: unknown
  try {
    response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    json = await response.json().catch(() => null)
  } catch {
    return err(`No gateway answers at ${url}: is "npm start" running?`)
  }
  const refusal = Refusal.safeParse(json)
  if (!response.ok)
    return err(refusal.success ? refusal.data.error_message : `The gateway answered ${response.status}.`)
  const answer = schema.safeParse(json)
  return answer.success ? ok(answer.data) : err(`${url} does not answer as a Weir gateway.`)
}
