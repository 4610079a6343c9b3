// Port for requests to the exchange's info servers. Types only; routed-upstream.ts has the rules.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'

export interface UpstreamResponse {
  /** The source's bytes unchanged: valid JSON, otherwise unparsed. */
  readonly text: string
  /** Clock lag of the source, if it exceeds its limit. */
  readonly lagMs?: number
}

export interface Upstream {
  /**
   * Sends `body` (a canonical JSON request of this type). A request rejected by the sources is `bad_field`. `caller`:
   * the account served, if any; callers share a scarce budget fairly.
   */
  request(type: string, body: string, caller?: string): Promise<Result<UpstreamResponse, Failure>>
}
