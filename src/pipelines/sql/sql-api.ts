// HTTP protocol between Sinks and the SQL Worker, as text, because on a single machine the Worker is a separate
// process. A request is a line of JSON and, for a run, a second line with the rows as one JSON list. The caller is
// named in headers, so that a queued request is not read before its turn.

import * as z from 'zod'
import type { Column } from '../../archive/files/columns.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { Count } from '../../core/variables.ts'

export const SQL_API_VERSION = 1

/** Authenticates callers if the Worker is reached over a socket. */
export const SQL_TOKEN_HEADER = 'x-weir-sql-token'

/** `check` and `slot` belong to interactive calls, one at a time per account. `batch` and `test` run transforms. */
type SqlKind = 'batch' | 'test' | 'check' | 'slot'

export interface SqlCaller {
  readonly account: AccountId
  readonly pipeline: string
  readonly kind: SqlKind
}

export interface SqlTable {
  readonly name: string
  readonly columns: readonly Column[]
}

/** Values for head columns that a result omits. */
export interface RowDefaults {
  /** Rows without a key get this prefix and their number. */
  readonly id: string
  readonly height: number
  readonly time: number
}

export interface SqlRequest {
  readonly v: number
  readonly transforms: Readonly<Record<string, string>>
  readonly table: SqlTable
  /** Null: check the transforms without running them. */
  readonly defaults: RowDefaults | null
}

/** `over`: the exceeded limit. After `time`, a retry may succeed. */
export interface TransformFault {
  readonly name: string
  readonly message: string
  readonly over?: 'steps' | 'time' | 'memory'
}

/** The run was not started; try again in `waitMs`. */
export interface SqlWait {
  readonly waitMs: number
  readonly words: string
}

/** Rows as JSON, a transform error, or a wait. */
export type SqlResponse =
  | { readonly kind: 'rows'; readonly texts: readonly string[] }
  | ({ readonly kind: 'fault' } & TransformFault)
  | ({ readonly kind: 'wait' } & SqlWait)

const KIND_HEADER = 'x-weir-sql'
const ACCOUNT_HEADER = 'x-weir-account'
const PIPELINE_HEADER = 'x-weir-pipeline'
const KINDS: readonly string[] = ['batch', 'test', 'check', 'slot'] satisfies SqlKind[]

export function callerHeaders({ account, pipeline, kind }: SqlCaller): Record<string, string> {
  return { [KIND_HEADER]: kind, [ACCOUNT_HEADER]: account, [PIPELINE_HEADER]: pipeline }
}

export function readCaller(headers: { get(name: string): string | null }): Result<SqlCaller, string> {
  const [kind = '', account = '', pipeline = ''] = [KIND_HEADER, ACCOUNT_HEADER, PIPELINE_HEADER].map(
    (name) => headers.get(name) ?? '',
  )
  if (!KINDS.includes(kind) || account === '') return err(`${KIND_HEADER} and ${ACCOUNT_HEADER} are required`)
  return ok({ account, pipeline, kind: kind as SqlKind })
}

export function requestText(request: SqlRequest, texts: readonly string[]): string {
  return `${JSON.stringify(request)}\n[${texts.join(',')}]`
}

export function readRequest(text: string): { readonly request: SqlRequest; readonly rows: string } {
  const end = text.indexOf('\n')
  return { request: JSON.parse(text.slice(0, end)) as SqlRequest, rows: text.slice(end + 1) }
}

/** JSON contains no raw line breaks, so lines can separate rows. */
export function responseText(answer: SqlResponse): string {
  const { kind } = answer
  return kind === 'rows' ? ['{"kind":"rows"}', ...answer.texts].join('\n') : JSON.stringify(answer)
}

export function readResponse(text: string): SqlResponse {
  const [head = '', ...texts] = text.split('\n')
  const answer = JSON.parse(head) as SqlResponse
  return answer.kind === 'rows' ? { kind: 'rows', texts } : answer
}

/** Environment variables of the SQL Worker. */
export const SqlSettings = z.object({
  /** Number of SQL runner objects. Each runs one batch at a time. */
  SQL_RUNNERS: Count(64),
  /** Token of callers over a socket; empty: only the service binding has access. */
  SQL_TOKEN: z.string('must be a string, or empty'),
})
