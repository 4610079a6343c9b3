// The port through which a query asks the exchange's own info servers. Types alone: the rules are routed-upstream.ts.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'

export interface UpstreamResponse {
  /** The source's bytes unchanged: known to be JSON, otherwise unread. */
  readonly text: string
  /** How late the source's clock is, where it is later than it should be. */
  readonly lagMs?: number
}

export interface Upstream {
  /**
   * Sends `body` (canonical JSON of a request of this type). A request that the sources refuse is `bad_field`. `caller`: on
   * whose behalf, where it is not the gateway's own: callers take turns where a source's budget does not suffice.
   */
  request(type: string, body: string, caller?: string): Promise<Result<UpstreamResponse, Failure>>
}
