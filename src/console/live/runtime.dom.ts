// The browser as the page's link sees it, and a clock that nobody can set.

import { webRuntime } from '../../client/web-runtime.client.ts'

/** Unix ms at the time when the page was opened, by the visitor's clock, and as steady as time itself from then on. */
export const pageNow = () => performance.timeOrigin + performance.now()

/** Its questions go with the page's token, never with a session. */
export const browserRuntime = webRuntime({
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
})
