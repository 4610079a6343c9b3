// What a Sink asks of the Worker that runs SQL: HTTP with text, because on one machine that Worker is another process. A request
// is a line of JSON and, for a run, a second line with its rows as one JSON list. The caller stands in headers, so that a request
// that has to wait is not read before its turn.

import * as z from 'zod'
import type { Column } from '../../archive/files/columns.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { Count } from '../../core/variables.ts'

export const SQL_API_VERSION = 1

/** Who may ask, where the Worker is reached over a socket. */
export const SQL_TOKEN_HEADER = 'x-weir-sql-token'

/** `check` and `slot` are parts of what an owner waits for: one at a time per account. `batch` and `test` run transforms. */
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

/** In place of what a result leaves out. */
export interface RowDefaults {
  /** A row without a key is called by this and its number. */
  readonly id: string
  readonly height: number
  readonly time: number
}

export interface SqlRequest {
  readonly v: number
  readonly transforms: Readonly<Record<string, string>>
  readonly table: SqlTable
  /** Null: the transforms are checked, and not run. */
  readonly defaults: RowDefaults | null
}

/** `over`: the budget of the run that was exceeded. Of `time` another try may need less. */
export interface TransformFault {
  readonly name: string
  readonly message: string
  readonly over?: 'steps' | 'time' | 'memory'
}

/** Not begun: `waitMs` from now it may be. */
export interface SqlWait {
  readonly waitMs: number
  readonly words: string
}

/** Rows as JSON, a fault of the transforms, or a wait. */
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

/** JSON has no line break of its own. */
export function responseText(answer: SqlResponse): string {
  const { kind } = answer
  return kind === 'rows' ? ['{"kind":"rows"}', ...answer.texts].join('\n') : JSON.stringify(answer)
}

export function readResponse(text: string): SqlResponse {
  const [head = '', ...texts] = text.split('\n')
  const answer = JSON.parse(head) as SqlResponse
  return answer.kind === 'rows' ? { kind: 'rows', texts } : answer
}

/** The variables of the Worker that runs SQL. */
export const SqlSettings = z.object({
  /** Objects that run SQL, each one batch at a time. */
  SQL_RUNNERS: Count(64),
  /** What callers over a socket present; empty: a service binding alone leads here. */
  SQL_TOKEN: z.string('must be text, or empty'),
})
