// webData2: a user's account and the markets of the main DEX in one answer, as the exchange's own pages once asked for it; it
// is deprecated there. Wire-equal.

import { EXAMPLE_WEB_DATA, WebData2 } from '../../protocol/info/web-data-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const webData2 = ofUserQuery({
  type: 'webData2',
  summary: "A user's account and the markets in one answer (deprecated)",
  example: EXAMPLE_WEB_DATA,
  response: WebData2,
})
