// What runs SQL, as a Sink reaches it. Laws: what was lost on the way is told apart from what was refused before it ran; after a
// loss nothing is sent there before it answers again.

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

/** Of a turn that is waited for, and of a run. */
const RESPONSE_TIMEOUT_MS = 40_000
const PING_TIMEOUT_MS = 5_000
const ADDRESS = 'http://sql/'
const SQL_UNAVAILABLE = 'what runs SQL does not answer; it is asked again'
export const SQL_LOST = 'what runs SQL ended amid this, or did not answer'

export class SqlLink {
  readonly #sql: Sql
  #isUnavailable = false

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Rejects while it is known not to answer. */
  async ready(): Promise<void> {
    if (!this.#isUnavailable) return
    const answer = await orReject(this.#sql.fetch(ADDRESS, { method: 'HEAD' }), PING_TIMEOUT_MS, after).catch(
      () => null,
    )
    if (!answer?.ok) throw new Error(SQL_UNAVAILABLE)
    this.#isUnavailable = false
  }

  /** Rejects with LOST where nobody knows what came of it. */
  async run(caller: SqlCaller, request: RunRequest, texts: readonly string[]): Promise<SqlResponse> {
    return this.#call(caller, 'POST', requestText({ v: SQL_API_VERSION, ...request }, texts))
  }

  /** Takes the account's place for a test; a wait where there is none. */
  async acquireSlot(account: AccountId): Promise<SqlWait | null> {
    const answer = await this.#call({ account, pipeline: '', kind: 'slot' }, 'POST')
    return answer.kind === 'wait' ? answer : null
  }

  async releaseSlot(account: AccountId): Promise<void> {
    await this.#call({ account, pipeline: '', kind: 'slot' }, 'DELETE')
  }

  async #call(caller: SqlCaller, method: 'POST' | 'DELETE', body: string | null = null): Promise<SqlResponse> {
    const asked = async () => {
      const answer = await this.#sql.fetch(ADDRESS, { method, headers: callerHeaders(caller), body })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${answer.status}`)
      return readResponse(text)
    }
    try {
      return await orReject(asked(), RESPONSE_TIMEOUT_MS, after)
    } catch (cause) {
      this.#isUnavailable = true
      throw new Error(SQL_LOST, { cause })
    }
  }
}

/** Who asks, for a batch of a pipeline or a test of it. What a test exceeds, the pipeline does not wait for. */
export function sqlCaller({ account, id }: Pick<Pipeline, 'account' | 'id'>, kind: 'batch' | 'test'): SqlCaller {
  return { account, pipeline: kind === 'test' ? `${id}:test` : id, kind }
}
