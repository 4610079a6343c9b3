// Upstream sources: the UPSTREAMS variable, parsed and routed per type. Sources are in order of preference: the first
// source that serves a type is used first, and the next is its failover.

import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, type Result } from '../core/result.ts'
import { parseWith } from '../core/validation-errors.ts'
import { SecretHeaders } from './secret-headers.ts'
import { BUDGET_MAX, BUDGET_MIN } from './weight-bucket.ts'

const UpstreamSource = z.strictObject({
  /** Name in `/status` and errors; never the address. */
  name: z.string().min(1).max(64),
  /** URL to POST to, including the path, such as `https://node.example.com/info`. */
  url: z.url({ protocol: /^https?$/ }),
  /** Absent: every type. A plain node serves about a third of them. */
  types: z.array(z.string()).optional(),
  /** Sent with every request. */
  headers: SecretHeaders.optional(),
  /** Weight per minute allowed by the source, such as 1,200 on the public API. Absent: unlimited. */
  budget: z.int().min(BUDGET_MIN).max(BUDGET_MAX).optional(),
  /** Time limit of one attempt, including the connection, headers and body. */
  timeoutMs: z.int().min(50).max(10_000).default(2_000),
  /** A source with a larger clock lag is used only if no fresher one serves the type. */
  maxLagMs: z.int().min(1_000).max(3_600_000).default(5_000),
})
export type UpstreamSource = z.infer<typeof UpstreamSource>

const Sources = z.array(UpstreamSource).max(16)

/** Parses the UPSTREAMS variable. The error is one sentence for the operator. */
export function parseSources(text: string): Result<readonly UpstreamSource[], string> {
  const value = parseJson(text)
  if (value === undefined) {
    return err('UPSTREAMS is not JSON: expected a list such as [{"name":"node","url":"https://node.example.com/info"}]')
  }
  const parsed = parseWith(Sources, value)
  if (!parsed.ok) return err(`UPSTREAMS ${parsed.error[0].path || 'value'}: ${parsed.error[0].message}`)
  const names = new Set(parsed.value.map((source) => source.name))
  if (names.size < parsed.value.length) return err('UPSTREAMS has two sources with the same name')
  return parsed
}

/** Sources that serve a type, in order of preference. */
export function sourcesFor(sources: readonly UpstreamSource[], type: string): readonly UpstreamSource[] {
  return sources.filter((source) => source.types === undefined || source.types.includes(type))
}
