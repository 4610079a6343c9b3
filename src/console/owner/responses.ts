// Responses of /platform that the owner page uses. Amounts are exact decimal strings.

import type { Responses } from '../responses.ts'

export type Account = Responses['ownAccount']
export type Usage = Responses['usage']
export type KeysPage = Responses['ownKeys']
export type Key = KeysPage['keys'][number]
/** `key` is absent in the response to a repeated request. */
export type IssuedKey = Pick<Responses['createOwnKey'], 'prefix' | 'label'> &
  Partial<Pick<Responses['rotateOwnKey'], 'key' | 'old_key_ends'> & Pick<Responses['createOwnKey'], 'warnings'>>
export type Refusals = Responses['ownRefusals']
export type Streams = Responses['ownStreams']
export type Webhook = NonNullable<Responses['ownWebhook']['webhook']>
export type Alerts = Responses['ownAlerts']
export type AlertRule = Alerts['rules'][number]
export type BalanceDay = Responses['ownBalances']['days'][number]
export type StatementSums = Responses['ownInvoices']['invoices'][number]
export type Statement = Responses['ownInvoice']
