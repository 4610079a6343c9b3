// What /platform answers to the owner's page. Amounts are exact text.

import type { Answers } from '../answers.ts'

export type Account = Answers['ownAccount']
export type Usage = Answers['usage']
export type KeysPage = Answers['ownKeys']
export type Key = KeysPage['keys'][number]
/** `key` is shown once: a repeated request has none. */
export type Issued = Pick<Answers['createOwnKey'], 'prefix' | 'label'> &
  Partial<Pick<Answers['rotateOwnKey'], 'key' | 'old_key_ends'> & Pick<Answers['createOwnKey'], 'warnings'>>
export type Refusals = Answers['ownRefusals']
export type Streams = Answers['ownStreams']
export type Webhook = NonNullable<Answers['ownWebhook']['webhook']>
export type BalanceDay = Answers['ownBalances']['days'][number]
export type InvoiceSums = Answers['ownInvoices']['invoices'][number]
export type Invoice = Answers['ownInvoice']
