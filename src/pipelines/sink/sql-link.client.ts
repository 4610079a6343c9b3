// Client of the SQL Worker. Invariants: a call whose outcome is unknown is distinguished from one refused before it
// ran; after such a loss, nothing is sent until the Worker responds again.

import { orReject } from '../../core/deadline.ts'
import type { AccountId } from '../../core/ids.ts'
import { after } from '../../core/timers.client.ts'
import type { Pipeline } from '../pipeline.ts'
import {
  callerHeaders,
  readResponse,
  requestText,
  SQL_API_VERSION,
  type SqlCaller,
  type SqlRequest,
  type SqlResponse,
  type SqlWait,
} from '../sql/sql-api.ts'

type Sql = Pick<Fetcher, 'fetch'>
type RunRequest = Omit<SqlRequest, 'v'>

/** Includes the time in the queue. */
const RESPONSE_TIMEOUT_MS = 40_000
const PING_TIMEOUT_MS = 5_000
const ADDRESS = 'http://sql/'
const SQL_UNAVAILABLE = 'The SQL runner is not responding. Retrying'
export const SQL_LOST = 'The SQL runner stopped during the run, or did not respond'

export class SqlLink {
  readonly #sql: Sql
  #isUnavailable = false

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Rejects while the SQL Worker is known to be unavailable. */
  async ready(): Promise<void> {
    if (!this.#isUnavailable) return
    const answer = await orReject(this.#sql.fetch(ADDRESS, { method: 'HEAD' }), PING_TIMEOUT_MS, after).catch(
      () => null,
    )
    if (!answer?.ok) throw new Error(SQL_UNAVAILABLE)
    this.#isUnavailable = false
  }

  /** Rejects with SQL_LOST if the outcome is unknown. */
  async run(caller: SqlCaller, request: RunRequest, texts: readonly string[]): Promise<SqlResponse> {
    return this.#call(caller, 'POST', requestText({ v: SQL_API_VERSION, ...request }, texts))
  }

  /** Acquires the account's test slot; returns a wait if it is busy. */
  async acquireSlot(account: AccountId): Promise<SqlWait | null> {
    const answer = await this.#call({ account, pipeline: '', kind: 'slot' }, 'POST')
    return answer.kind === 'wait' ? answer : null
  }

  async releaseSlot(account: AccountId): Promise<void> {
    await this.#call({ account, pipeline: '', kind: 'slot' }, 'DELETE')
  }

  async #call(caller: SqlCaller, method: 'POST' | 'DELETE', body: string | null = null): Promise<SqlResponse> {
    const request = async () => {
      const answer = await this.#sql.fetch(ADDRESS, { method, headers: callerHeaders(caller), body })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${answer.status}`)
      return readResponse(text)
    }
    try {
      return await orReject(request(), RESPONSE_TIMEOUT_MS, after)
    } catch (cause) {
      this.#isUnavailable = true
      throw new Error(SQL_LOST, { cause })
    }
  }
}

/** Caller of a batch or a test. Tests count separately, so that their strikes do not delay the pipeline. */
export function sqlCaller({ account, id }: Pick<Pipeline, 'account' | 'id'>, kind: 'batch' | 'test'): SqlCaller {
  return { account, pipeline: kind === 'test' ? `${id}:test` : id, kind }
}
