// The port through which a query asks the exchange's own info servers. Types alone: the rules are routed-upstream.ts.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'

export interface Upstream {
  /**
   * Sends `body` (canonical JSON of a request of this type) and answers the source's text unchanged: known to be
   * JSON, otherwise unread. A request that the sources refuse is `bad_field`.
   */
  ask(type: string, body: string): Promise<Result<string, Failure>>
}
