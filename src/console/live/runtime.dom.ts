// The runtime of the client library in the browser, and a monotonic clock.

import { webRuntime } from '../../client/web-runtime.client.ts'

/** Unix ms by the device clock at page load, monotonic from then on. */
export const pageNow = () => performance.timeOrigin + performance.now()

/** Requests carry the stream token, never the session cookie. */
export const browserRuntime = webRuntime({
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
})
