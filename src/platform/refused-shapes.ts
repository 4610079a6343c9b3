// What callers were refused, as the operator's API shows it.

import * as z from 'zod'
import { AccountId, UnixMs } from './fields.ts'
import type { RefusedRow } from './operator-api.ts'

export const Refused = z
  .object({
    at: UnixMs.describe('When, Unix milliseconds'),
    request_id: z.string().describe('As its reply had it; empty of a frame on a socket'),
    account: AccountId,
    prefix: z.string().describe('The key’s first twelve characters'),
    product: z.string().describe('What was asked'),
    type: z.string().describe('The type, method, channel or endpoint; empty where that was not read'),
    code: z.string().describe('As on the wire'),
    message: z.string().describe('The sentence that the caller was told, cut short'),
  })
  .meta({ id: 'Refused' })

export const REFUSED_EXAMPLE = {
  at: 1790000000000,
  request_id: 'req_7XkPqZ4mNbVcRt2Y',
  account: 'acme',
  prefix: 'cqt_9fKxWq2T',
  product: 'info',
  type: 'l2Book',
  code: 'rate_limited',
  message: 'Too many requests: retry after 1 s.',
}

export function shownRefusal({ number: _, key_prefix: prefix, ...row }: RefusedRow): z.infer<typeof Refused> {
  return { ...row, prefix }
}
