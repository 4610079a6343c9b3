// Port for requests to the exchange's info servers. Types only; routed-upstream.ts has the rules.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'

export interface UpstreamResponse {
  /** The source's response, unchanged. It is valid JSON, but its content is not checked. */
  readonly text: string
  /** Clock lag of the source, if it exceeds its limit. */
  readonly lagMs?: number
}

export interface Upstream {
  /**
   * Sends `body` (a canonical JSON request of this type). A request rejected by the sources fails with `bad_field`.
   * `caller` is the account that the request serves, if any. Callers share a scarce budget fairly.
   */
  request(type: string, body: string, caller?: string): Promise<Result<UpstreamResponse, Failure>>
}
