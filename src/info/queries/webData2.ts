// webData2: account of a user and markets of the main DEX in one response. Deprecated on the exchange, whose web pages
// used it. Same response as the exchange's API.

import { EXAMPLE_WEB_DATA, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const webData2 = ofUserQuery({
  type: 'webData2',
  summary: "A user's account and the markets in one response (deprecated)",
  example: EXAMPLE_WEB_DATA,
  response: () => WebData2,
})
